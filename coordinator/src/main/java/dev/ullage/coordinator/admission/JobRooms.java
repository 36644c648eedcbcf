package dev.ullage.coordinator.admission;

import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.protocol.ToCoordinator.SubmitRequest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Which room is a job's own, where it may have several: an attempt was given up whose release was lost, or a
 * coordinator placed the job while it did not hear of a device where it had its room, and the next finds both whole.
 * Nobody but its submitter knows of which it was told, and says so; until it speaks all of them are kept. Mutable, with
 * a single owner.
 */
final class JobRooms {
    /** Found whole, and not the one that the job's entry has. */
    private final NavigableMap<JobId, List<Reservation>> spares = new TreeMap<>();
    /** Of those that run: in which room, where their submitters said so. */
    private final NavigableMap<JobId, String> said = new TreeMap<>();

    /**
     * @param its the room in which the job runs; empty: none that is known here
     * @param others to be given back
     */
    record Choice(Optional<Reservation> its, List<Reservation> others) {
        Choice {
            others = List.copyOf(others);
        }
    }

    void keep(Reservation spare) {
        spares.computeIfAbsent(spare.id().job(), job -> new ArrayList<>()).add(spare);
    }

    /** Nothing is kept beside the job's entry any more: all that was is to be given back. */
    List<Reservation> drop(JobId job) {
        return Optional.ofNullable(spares.remove(job)).orElse(List.of());
    }

    /**
     * What a running job's submitter says decides. One that does not say in which room it runs is an older one: it was
     * told of the newest, as far as anybody can tell.
     *
     * @param has the room that the job's entry has, all of it committed; empty: none
     */
    Choice choose(SubmitRequest message, Optional<Reservation> has) {
        JobId job = message.request().job();
        List<Reservation> all = new ArrayList<>(drop(job));
        has.ifPresent(all::add);
        said.remove(job);
        message.room().ifPresent(room -> said.put(job, room));
        Optional<Reservation> its = message.room().isPresent()
                ? all.stream().filter(one -> isIts(one)).findFirst()
                : all.stream().max(Comparator.comparing(Reservation::id));
        its.ifPresent(all::remove);
        return new Choice(its, all);
    }

    /** It does not run, so no room is its own but what it will be told of. */
    List<Reservation> waits(JobId job) {
        said.remove(job);
        return drop(job);
    }

    /** Whether the job may run in it, as far as its submitter has said. */
    boolean isIts(Reservation reservation) {
        return Optional.ofNullable(said.get(reservation.id().job()))
                .map(room -> room.equals(name(reservation)))
                .orElse(true);
    }

    /** As submitters know it: a text that means nothing to them. */
    static String name(Reservation reservation) {
        return reservation.id().toString();
    }

    /** Whether it is what the request would be given; of shares of a device only for how many ranks is compared. */
    static boolean suits(Reservation room, JobRequest request) {
        List<Bundle> bundles = Bundle.of(request);
        List<ReservedPart> parts = room.parts();
        if (bundles.size() != parts.size()) {
            return false;
        }
        for (int i = 0; i < parts.size(); i++) {
            ReservedPart part = parts.get(i);
            boolean isEnough = bundles.get(i)
                    .group()
                    .memory()
                    .map(each -> !each.isMoreThan(part.perRank()))
                    .orElse(true);
            if (!isEnough || part.ranks() != bundles.get(i).ranks()) {
                return false;
            }
        }
        return true;
    }

    void retain(Collection<JobId> jobs) {
        spares.keySet().retainAll(jobs);
        said.keySet().retainAll(jobs);
    }
}
