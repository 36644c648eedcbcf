package dev.ullage.coordinator.admission;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.coordinator.planning.KeptRoom.WantedRoom;
import dev.ullage.coordinator.planning.RoomToMake;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Room that the first of the queue would like jobs of lower priority to make: asked for only where all of its ranks
 * would find room by that. Pure.
 *
 * @param asked the jobs that would give something up
 */
public record RoomWish(NavigableMap<DeviceId, WantedRoom> wanted, NavigableSet<JobId> asked) {
    static final RoomWish NONE = new RoomWish(new TreeMap<>(), new TreeSet<>());

    public RoomWish {
        wanted = Collections.unmodifiableNavigableMap(new TreeMap<>(wanted));
        asked = Collections.unmodifiableNavigableSet(new TreeSet<>(asked));
    }

    /** What the ranks of a device could give up for a job of this priority. */
    public interface Lower {
        RoomToMake on(DeviceId device, Priority than);
    }

    /**
     * @param before what was wished when it was looked at last: kept while it would still do, so that nobody is asked
     *     in turns
     */
    static RoomWish of(JobRequest first, Rooms rooms, Lower lower, RoomWish before) {
        List<DeviceOffer> devices = new ArrayList<>();
        for (DeviceOffer offer : rooms.devices()) {
            MemoryBytes more = offer.out().isPresent()
                    ? MemoryBytes.ZERO
                    : lower.on(offer.id(), first.priority()).amount();
            devices.add(offer.withRoom(offer.room().plus(more)));
        }
        // Nobody gives up processors or memory of a host: a limit is of a device.
        Rooms made = new Rooms(devices, rooms.hosts());
        if (before.isFor(first) && before.wouldDo(first, made)) {
            return before.askingNow(lower, first.priority());
        }
        Optional<List<ReservedPart>> parts =
                GangPlacer.fits(first, rooms) ? Optional.empty() : GangPlacer.place(first, made, List.of());
        NavigableMap<DeviceId, WantedRoom> wanted = new TreeMap<>();
        parts.ifPresent(placed -> placed.forEach(
                part -> wanted.put(part.device(), new WantedRoom(first.job(), first.priority(), part.amount()))));
        return new RoomWish(wanted, before.asked()).askingNow(lower, first.priority());
    }

    /** What the jobs concerned are to be told, the one that asks first; empty when they were told before. */
    Map<JobId, String> toSay(RoomWish before) {
        Map<JobId, String> texts = new LinkedHashMap<>();
        if (wanted.isEmpty() || wanted.equals(before.wanted())) {
            return texts;
        }
        WantedRoom room = wanted.firstEntry().getValue();
        String names = asked.stream().map(JobId::value).collect(Collectors.joining(", "));
        texts.put(
                room.job(),
                "waits for room (priority %s): of lower priority, and asked to give up what they do not hold: %s"
                        .formatted(room.priority(), names));
        asked.forEach(job -> texts.put(job, "is asked to give up what it does not hold, for job " + room.job()));
        return texts;
    }

    private boolean isFor(JobRequest first) {
        return wanted.values().stream()
                        .allMatch(room -> room.job().equals(first.job()) && room.priority() == first.priority())
                && !wanted.isEmpty();
    }

    private boolean wouldDo(JobRequest first, Rooms made) {
        return GangPlacer.fits(first, made.on(offer -> wanted.containsKey(offer.id())));
    }

    private RoomWish askingNow(Lower lower, Priority than) {
        NavigableSet<JobId> jobs = new TreeSet<>();
        wanted.keySet().forEach(device -> jobs.addAll(lower.on(device, than).jobs()));
        return new RoomWish(wanted, jobs);
    }
}
