package dev.ullage.coordinator.admission;

import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.RankGroup;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.protocol.Protocol;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One look at the whole queue: jobs are considered in its order. The first that does not start has devices kept for it,
 * and of those behind it only those start that do not delay it ({@link KeptDevices}). One for which not even empty
 * devices would be enough holds up nobody. Mutable, for one look.
 */
final class Admission {
    private final Optional<KeptDevices> before;
    private final List<JobRequest> usual;
    private final Set<Shape> inVain = new LinkedHashSet<>();
    private Timeline timeline;
    private Optional<KeptDevices> kept = Optional.empty();

    /** Requests of one shape find room alike; what is left only gets less within a look. */
    private record Shape(List<RankGroup> groups, int ranksPerDevice, JobRequest.Wanted wanted, boolean endsInTime) {}

    /** @param before what was kept when it was looked at last */
    Admission(Timeline timeline, Optional<KeptDevices> before, List<JobRequest> usual) {
        this.timeline = timeline;
        this.before = before;
        this.usual = usual;
    }

    /**
     * The next of the queue.
     *
     * @param mayStart whether it may start now at all; if not it keeps its place
     * @return what it is given; empty when it waits
     */
    Optional<List<ReservedPart>> consider(JobRequest request, boolean mayStart) {
        Optional<Instant> endsAt = request.runsForMillis().isPresent()
                ? Optional.of(timeline.now()
                        .plus(Protocol.PLACED_WITHIN)
                        .plusMillis(request.runsForMillis().getAsLong()))
                : Optional.empty();
        Optional<List<ReservedPart>> parts = mayStart ? place(request, endsAt) : Optional.empty();
        if (parts.isPresent()) {
            Claim claim = Claim.of(parts.get(), request.wanted().host());
            timeline = timeline.with(RunningGang.of(request.job(), claim, endsAt));
            kept = kept.map(first -> first.endsInTime(endsAt) ? first : first.passedBy(request.job()));
        } else if (kept.isEmpty()) {
            kept = KeptDevices.forFirst(request, timeline, before);
        }
        return parts;
    }

    private Optional<List<ReservedPart>> place(JobRequest request, Optional<Instant> endsAt) {
        boolean endsInTime = kept.filter(first -> first.endsInTime(endsAt)).isPresent();
        Shape shape = new Shape(request.groups(), request.ranksPerDevice(), request.wanted(), endsInTime);
        if (kept.isPresent() && inVain.contains(shape)) {
            return Optional.empty();
        }
        Rooms left = kept.map(first -> first.leftFor(endsAt, timeline)).orElse(timeline.rooms());
        Optional<List<ReservedPart>> parts = GangPlacer.place(request, left, usual);
        if (parts.isEmpty()) {
            inVain.add(shape);
        }
        return parts;
    }

    /** What is kept for the first now. */
    Optional<KeptDevices> kept() {
        return kept;
    }
}
