package dev.ullage.coordinator.admission;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.MemoryBytes;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What is kept for the first of the queue while it finds no room: devices, what it will need on each, and what its
 * ranks ask for on their hosts. They are those that will have the room earliest, by the ends that are known. Where no
 * known end makes room, they are those that have it once everybody there has ended, whenever that is.
 *
 * <p>Others may pass on them only when they end before that, or leave it what it needs then; so nobody who passes
 * delays its start, if nobody runs longer than he said and all devices stay. As long as it is first its devices stay
 * the same, unless their time is known and it is earlier elsewhere. A time that was not known may become so. When it
 * has passed and the room is not there, somebody stays longer than he said: from then on nothing is known of the start,
 * and nothing new goes there until it has come. So its start only comes nearer, and jobs that come and go never make it
 * begin again.
 *
 * <p>Giving room back takes messages: what is over and still on its way back counts as gone in time, else the first
 * would look for other devices just before its start, and somebody could take these.
 *
 * @param startsAt when the room is there; empty when no known end makes it
 * @param passed who started there meanwhile, leaves it what it needs, and is not waited for
 */
record KeptDevices(JobId first, Claim needs, Optional<Instant> startsAt, NavigableSet<JobId> passed) {
    KeptDevices {
        passed = Collections.unmodifiableNavigableSet(new TreeSet<>(passed));
    }

    /** What is to be kept now; empty when not even devices without anybody on them are enough. */
    static Optional<KeptDevices> forFirst(JobRequest first, Timeline timeline, Optional<KeptDevices> before) {
        Optional<KeptDevices> standing = before.filter(kept -> kept.first().equals(first.job()))
                .filter(kept -> kept.isStillGood(first, timeline));
        if (standing.filter(kept -> kept.startAhead(timeline.now()).isEmpty()).isPresent()) {
            return standing.map(kept -> kept.withTimeThatIsKnownNow(first, timeline));
        }
        Optional<Instant> earliest = timeline.ends().stream()
                .filter(end -> GangPlacer.fits(first, timeline.at(end)))
                .findFirst();
        Optional<Instant> stands = standing.flatMap(KeptDevices::startsAt);
        boolean isEarlier = stands.isEmpty()
                || earliest.filter(end -> end.isBefore(stands.get())).isPresent();
        if (!isEarlier) {
            return standing;
        }
        return earliest.map(timeline::at)
                .or(() -> Optional.of(timeline.emptiedBut(gang -> false)))
                .flatMap(rooms -> GangPlacer.place(first, rooms, List.of()))
                .map(parts -> new KeptDevices(
                        first.job(), Claim.of(parts, first.wanted().host()), earliest, new TreeSet<>()));
    }

    /**
     * The same devices, and when they have the room where that was not known and now is: after a takeover submitters
     * say one after the other how long their jobs have run. A time that has passed is not replaced: it was not kept.
     */
    private KeptDevices withTimeThatIsKnownNow(JobRequest request, Timeline timeline) {
        if (startsAt.isPresent()) {
            return this;
        }
        Optional<Instant> known = timeline.ends().stream()
                .filter(end -> GangPlacer.fits(
                        request, timeline.at(end).on(offer -> needs.devices().containsKey(offer.id()))))
                .findFirst();
        return new KeptDevices(first, needs, known, passed);
    }

    /** When the room is there, as far as that can still be told. */
    Optional<Instant> startAhead(Instant now) {
        return startsAt.filter(at -> at.isAfter(now));
    }

    /** Whether these devices are still there, and will have the room when it was thought. */
    private boolean isStillGood(JobRequest request, Timeline timeline) {
        Rooms mine = then(timeline)
                .on(offer ->
                        needs.devices().containsKey(offer.id()) && offer.out().isEmpty());
        return mine.devices().size() == needs.devices().size() && GangPlacer.fits(request, mine);
    }

    /** Devices and hosts at the time of the start. */
    private Rooms then(Timeline timeline) {
        return startsAt.map(timeline::dueBy).orElseGet(() -> timeline.emptiedBut(gang -> passed.contains(gang.job())));
    }

    /** Whether one that ends then is gone when the room is needed. */
    boolean endsInTime(Optional<Instant> endsAt) {
        return startsAt.isPresent()
                && endsAt.filter(end -> !end.isAfter(startsAt.get())).isPresent();
    }

    KeptDevices passedBy(JobId job) {
        NavigableSet<JobId> more = new TreeSet<>(passed);
        more.add(job);
        return new KeptDevices(first, needs, startsAt, more);
    }

    /** What another job may take: all there is where it ends in time, else what is left beside what is needed here. */
    Rooms leftFor(Optional<Instant> endsAt, Timeline timeline) {
        if (endsInTime(endsAt)) {
            return timeline.rooms();
        }
        Rooms then = then(timeline).without(List.of(needs));
        NavigableMap<DeviceId, MemoryBytes> left = new TreeMap<>();
        then.devices().forEach(device -> left.put(device.id(), device.room()));
        return timeline.rooms()
                .with(
                        now -> needs.devices().containsKey(now.id())
                                ? now.room().min(left.getOrDefault(now.id(), MemoryBytes.ZERO))
                                : now.room(),
                        (node, now) -> needs.hosts().containsKey(node)
                                ? now.room().min(then.host(node).room())
                                : now.room());
    }
}
