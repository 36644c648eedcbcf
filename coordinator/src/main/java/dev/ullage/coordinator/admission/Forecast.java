package dev.ullage.coordinator.admission;

import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * When the jobs of a queue start, if each starts in its turn and everybody ends as they said. Pure. The first's time is
 * what is kept for it; of the others it is an estimate, because a job may pass, end early, or stay longer.
 *
 * @param starts of those for which something is known
 */
record Forecast(NavigableMap<JobId, Instant> starts) {
    /** No further: each looks at every end that is known. */
    static final int DEPTH = 50;

    static final Forecast NONE = new Forecast(new TreeMap<>());

    Forecast {
        starts = Collections.unmodifiableNavigableMap(new TreeMap<>(starts));
    }

    /** @param kept for the first of them that can start at all; who is before it waits for devices that are out */
    static Forecast of(List<JobRequest> queue, Timeline timeline, Optional<KeptDevices> kept) {
        NavigableMap<JobId, Instant> starts = new TreeMap<>();
        List<RunningGang> planned = new ArrayList<>();
        Instant notBefore = timeline.now();
        for (JobRequest request : queue.subList(0, Math.min(DEPTH, queue.size()))) {
            if (kept.isEmpty() || (planned.isEmpty() && !kept.get().first().equals(request.job()))) {
                continue;
            }
            Optional<Started> started = planned.isEmpty()
                    ? kept.get()
                            .startAhead(timeline.now())
                            .map(at -> new Started(at, kept.get().needs()))
                    : earliest(request, timeline, planned, notBefore);
            if (started.isEmpty()) {
                // Who comes after it does not start before it, and of that time nothing is known.
                break;
            }
            starts.put(request.job(), started.get().at());
            notBefore = started.get().at();
            Optional<Instant> end = request.runsForMillis().isPresent()
                    ? Optional.of(notBefore.plusMillis(request.runsForMillis().getAsLong()))
                    : Optional.empty();
            planned.add(RunningGang.of(request.job(), started.get().needs(), end));
        }
        return new Forecast(starts);
    }

    private record Started(Instant at, Claim needs) {}

    private static Optional<Started> earliest(
            JobRequest request, Timeline timeline, List<RunningGang> planned, Instant notBefore) {
        List<Instant> times = new ArrayList<>(timeline.ends());
        planned.forEach(gang -> gang.endsAt().ifPresent(times::add));
        times.add(notBefore);
        for (Instant time : times.stream()
                .filter(end -> !end.isBefore(notBefore))
                .distinct()
                .sorted()
                .toList()) {
            Rooms then = timeline.at(time)
                    .without(planned.stream()
                            .filter(gang -> gang.endsAt()
                                    .filter(end -> !end.isAfter(time))
                                    .isEmpty())
                            .map(RunningGang::claim)
                            .toList());
            if (GangPlacer.fits(request, then)) {
                return GangPlacer.place(request, then, List.of())
                        .map(parts -> new Started(
                                time, Claim.of(parts, request.wanted().host())));
            }
        }
        return Optional.empty();
    }

    Optional<Duration> in(JobId job, Instant now) {
        return Optional.ofNullable(starts.get(job)).map(at -> Duration.between(now, at));
    }
}
