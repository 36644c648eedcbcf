package dev.ullage.coordinator.planning;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ReservationReport;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.config.LimitSettings;
import dev.ullage.coordinator.view.ClusterView;
import dev.ullage.coordinator.view.DeviceView;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What jobs of lower priority could give up of a device if they were asked to: what their ranks may still believe, less
 * the most they were seen to hold and the smallest limit there is. Nothing of a rank of which nobody knows what it
 * holds, nor of one whose job has a reservation there. Pure; soft: the plan decides.
 *
 * @param jobs whose ranks these are
 */
public record RoomToMake(MemoryBytes amount, NavigableSet<JobId> jobs) {
    public static final RoomToMake NONE = new RoomToMake(MemoryBytes.ZERO, new TreeSet<>());

    public RoomToMake {
        jobs = Collections.unmodifiableNavigableSet(new TreeSet<>(jobs));
    }

    /** @param than the priority that theirs is lower than */
    public static RoomToMake on(
            DeviceId device, Priority than, ClusterView view, LimitSettings limits, OperatorWishes wishes) {
        Optional<DeviceView> known =
                view.device(device).filter(one -> one.report().isPresent());
        if (known.isEmpty()) {
            return NONE;
        }
        NavigableMap<RankInstance, RankObserved> seen = new TreeMap<>();
        known.get().sample().ifPresent(heard -> {
            for (RankSample rank : heard.message().ranks()) {
                seen.put(rank.instance(), RankObserved.of(rank));
            }
        });
        LedgerReport ledger = known.get().report().orElseThrow().message().ledger();
        NavigableSet<JobId> reserved = new TreeSet<>();
        for (ReservationReport report : ledger.reservations().orElse(List.of())) {
            reserved.add(report.reservation().id().job());
        }
        MemoryBytes sum = MemoryBytes.ZERO;
        NavigableSet<JobId> jobs = new TreeSet<>();
        for (GrantReport grant : ledger.grants()) {
            JobId job = grant.instance().rank().job();
            boolean isLower = JobPolicies.terms(grant, limits.policies(), wishes)
                            .priority()
                            .compareTo(than)
                    > 0;
            MemoryBytes room = RoomShares.held(seen.getOrDefault(grant.instance(), RankObserved.NOTHING))
                    .map(held -> grant.ceiling().minusOrZero(held.max(limits.minimum())))
                    .orElse(MemoryBytes.ZERO);
            if (isLower && !reserved.contains(job) && !room.isZero()) {
                sum = sum.plus(room);
                jobs.add(job);
            }
        }
        return new RoomToMake(sum, jobs);
    }
}
