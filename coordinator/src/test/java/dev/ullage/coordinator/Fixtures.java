package dev.ullage.coordinator;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.KeeperCounts;
import dev.ullage.common.protocol.Protocol;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.common.protocol.ToWorker;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.pekko.actor.typed.ActorRef;

/** One host with one 80 GiB device and a reserve of 20 %, and how to say that something else is meant. */
public final class Fixtures {
    public static final Instant T0 = Instant.parse("2026-01-01T00:00:00Z");
    public static final NodeId NODE = new NodeId("host-a");
    public static final DeviceId DEVICE = new DeviceId("GPU-a0");
    public static final JobId JOB = new JobId("job");
    public static final CoordinatorToken TOKEN = new CoordinatorToken(1, "me");
    public static final Share RESERVE = Share.ofPercent(20);

    private Fixtures() {}

    public static Instant at(Duration since) {
        return T0.plus(since);
    }

    public static Instant atMillis(long millis) {
        return T0.plusMillis(millis);
    }

    public static MemoryBytes gib(long gibibytes) {
        return MemoryBytes.ofGibibytes(gibibytes);
    }

    public static MemoryBytes mib(long mebibytes) {
        return MemoryBytes.ofMebibytes(mebibytes);
    }

    public static PhaseLimits limits(MemoryBytes limit) {
        return PhaseLimits.uniform(limit);
    }

    public static RankId rankId(int rank) {
        return new RankId(JOB, rank);
    }

    /** The first process of this rank. */
    public static RankInstance rank(int rank) {
        return new RankInstance(rankId(rank), 100L + rank, 1);
    }

    public static BudgetTerms terms(MemoryBytes allocatable, MemoryBytes foreign) {
        return new BudgetTerms(allocatable, RESERVE, foreign);
    }

    /** A rank that was never given a limit. */
    public static GrantReport joined(int rank) {
        return new GrantReport(rank(rank), Share.ALL, Optional.empty(), 0, 0, MemoryBytes.ZERO);
    }

    /** A rank that has confirmed this limit. */
    public static GrantReport settled(int rank, MemoryBytes limit) {
        return settled(rank, limit, Share.ALL);
    }

    public static GrantReport settled(int rank, MemoryBytes limit, Share share) {
        return new GrantReport(rank(rank), share, Optional.of(limits(limit)), 1, 1, limit);
    }

    /** A rank that was ordered this limit, has not confirmed it and may still believe the ceiling. */
    public static GrantReport ordered(int rank, MemoryBytes limit, MemoryBytes ceiling) {
        return new GrantReport(rank(rank), Share.ALL, Optional.of(limits(limit)), 2, 1, ceiling);
    }

    public static LedgerReport ledger(BudgetTerms terms, GrantReport... grants) {
        return new LedgerReport(terms, terms, false, List.of(grants), KeeperCounts.NONE);
    }

    public static LedgerReport ledger(GrantReport... grants) {
        return ledger(terms(gib(80), MemoryBytes.ZERO), grants);
    }

    /** Of a device that obeys {@link #TOKEN}. */
    public static LimitsReported report(long revision, LedgerReport ledger) {
        return new LimitsReported(NODE, DEVICE, Optional.of(TOKEN), revision, ledger);
    }

    public static DeviceInfo info(DeviceId device) {
        return new DeviceInfo(device, 0, "H100-80G", DeviceKind.SIMULATED, Optional.empty());
    }

    public static WorkerAnnounced announced(
            NodeId node, Optional<CoordinatorToken> highest, ActorRef<ToWorker> worker, DeviceId... devices) {
        return new WorkerAnnounced(
                node,
                Protocol.VERSION,
                highest,
                Arrays.stream(devices).map(Fixtures::info).toList(),
                worker);
    }
}
