package dev.ullage.coordinator.admission;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.ReservedPart;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A job that has its room, or is being given it.
 *
 * @param endsAt when it gives it back, by the time it was submitted with; empty when it does not say
 * @param isLeaving whether it is over, and its room is being given back: {@code endsAt} is when that is thought to be
 *     done, which moves on with every look until it is
 */
record RunningGang(
        JobId job,
        NavigableMap<DeviceId, MemoryBytes> amounts,
        Instant startedAt,
        Optional<Instant> endsAt,
        boolean isLeaving) {
    RunningGang {
        amounts = Collections.unmodifiableNavigableMap(new TreeMap<>(amounts));
    }

    static RunningGang of(JobId job, List<ReservedPart> parts, Instant startedAt, Optional<Instant> endsAt) {
        NavigableMap<DeviceId, MemoryBytes> amounts = new TreeMap<>();
        parts.forEach(part -> amounts.put(part.device(), part.amount()));
        return new RunningGang(job, amounts, startedAt, endsAt, false);
    }

    /** A job that is over, with what it still has. */
    static RunningGang leaving(JobId job, List<ReservedPart> parts, Instant now, Instant goneAt) {
        RunningGang gang = of(job, parts, now, Optional.of(goneAt));
        return new RunningGang(job, gang.amounts, now, gang.endsAt, true);
    }

    /** Whether its room was to be free by then, as far as it goes by the job: what is leaving has kept its word. */
    boolean isDueBy(Instant time) {
        return isLeaving || endsAt.filter(end -> !end.isAfter(time)).isPresent();
    }

    MemoryBytes on(DeviceId device) {
        return amounts.getOrDefault(device, MemoryBytes.ZERO);
    }

    /** When it ends as far as one can tell: one that is over its time tells nothing. */
    Optional<Instant> knownEnd(Instant now) {
        return endsAt.filter(end -> end.isAfter(now));
    }
}
