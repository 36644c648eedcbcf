package dev.ullage.common.protocol;

import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NeedsRestart;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.model.RankEnforcement;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.Share;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** What a rank says and was estimated to need, for {@link WireSamples}. */
final class RankSamples {
    static final RankInstance RANK = new RankInstance(new RankId(new JobId("bert-large"), 3), 4242, 998_877);

    private RankSamples() {}

    static RankSample full() {
        RankFacts facts = new RankFacts(
                OptionalInt.of(8),
                OptionalInt.of(3),
                "torchrun",
                1,
                Optional.of("torch 2.10.0"),
                List.of(EnforcedBy.TORCH, EnforcedBy.HAMI_CORE),
                Optional.of("priority-pool"));
        RankUse use = new RankUse(
                Optional.of(MemoryBytes.of(1)),
                Optional.of(MemoryBytes.of(2)),
                Optional.of(MemoryBytes.of(3)),
                Optional.of(MemoryBytes.of(4)),
                5);
        return new RankSample(
                RANK,
                facts,
                new RankSample.Activity(Phase.BACKWARD, OptionalLong.of(17)),
                use,
                EnforcedBy.TORCH,
                true,
                40,
                Optional.of(new NeedsRestart(
                        MemoryBytes.ofGibibytes(8), MemoryBytes.ofGibibytes(4), "TensorFlow's limit is fixed")),
                Optional.of(rankWatch()),
                Optional.of(new RankEnforcement(
                        Optional.of(MemoryBytes.ofGibibytes(9)),
                        Optional.of(new RankEnforcement.Overhead(MemoryBytes.ofMebibytes(512), true)),
                        Optional.of(MemoryBytes.ofGibibytes(64)),
                        true,
                        List.of(new RankEnforcement.WhyNot(EnforcedBy.DRIVER, "the driver is too old")))));
    }

    private static RankWatch rankWatch() {
        return new RankWatch(
                new RankWatch.Progress(OptionalLong.of(1200), OptionalLong.of(3), 100),
                List.of(new RankWatch.PhasePeak(
                        Phase.BACKWARD, Optional.of(MemoryBytes.of(11)), Optional.of(MemoryBytes.of(9)))),
                new RankWatch.Allocator(
                        OptionalLong.of(123_456),
                        OptionalLong.of(102),
                        Optional.of(Share.ofPercent(12)),
                        Optional.of(Share.ofPercent(3)),
                        OptionalLong.of(2),
                        OptionalLong.of(1)),
                new RankWatch.Leak(
                        RankWatch.LeakState.SUSPECTED,
                        OptionalLong.of(MemoryBytes.MEBIBYTE),
                        Optional.of(Share.ofPercent(99)),
                        100),
                List.of(new RankWatch.Snapshot(
                        1000,
                        Optional.of(MemoryBytes.of(5)),
                        Optional.of(MemoryBytes.of(8)),
                        Optional.of(MemoryBytes.of(2)),
                        Optional.of(MemoryBytes.of(1)),
                        OptionalLong.of(4))),
                Optional.of(new RankWatch.CacheRelease(700, MemoryBytes.of(9), MemoryBytes.of(6))),
                Optional.of(new RankWatch.Work(
                        Optional.of(new RankWatch.Batches(
                                Optional.of(new RankWatch.Batch(
                                        1, 96, 40, 20, OptionalInt.of(24), Optional.of(MemoryBytes.ofGibibytes(3)))),
                                Optional.of(new RankWatch.MicroBatches(
                                        8,
                                        List.of(new RankWatch.MicroBatchPeaks(
                                                8,
                                                List.of(
                                                        new RankWatch.PhasePeak(
                                                                Phase.BACKWARD,
                                                                Optional.empty(),
                                                                Optional.of(MemoryBytes.of(7)))))))))),
                        Optional.of(MemoryBytes.of(10)))));
    }

    static PlannedNeeds plannedNeeds() {
        PlannedNeeds.Need need =
                new PlannedNeeds.Need(MemoryBytes.of(9), MemoryBytes.of(10), MemoryBytes.of(12), MemoryBytes.of(6));
        return new PlannedNeeds(
                1, 2, true, OptionalInt.of(4), new PlannedNeeds.Phases(need, need, need, need, need), need);
    }

    static RankNeeds rankNeeds() {
        return new RankNeeds(
                1,
                2,
                "measured over its last 100 steps",
                List.of(new RankNeeds.PhaseNeed(
                        Phase.FORWARD,
                        Optional.of(
                                new RankNeeds.PlannedRange(MemoryBytes.of(18), MemoryBytes.of(20), MemoryBytes.of(24))),
                        Optional.of(MemoryBytes.of(19)),
                        Optional.of(MemoryBytes.of(20)))),
                Optional.of(new RankNeeds.MicroBatchNeed(
                        8,
                        2,
                        MemoryBytes.of(20),
                        MemoryBytes.of(1),
                        Optional.of(MemoryBytes.of(24)),
                        OptionalInt.of(12))));
    }

    static RankSample sparse() {
        return new RankSample(
                RANK,
                new RankFacts(OptionalInt.empty(), OptionalInt.empty(), "none", 0, Optional.empty(), List.of()),
                new RankSample.Activity(Phase.INIT, OptionalLong.empty()),
                RankUse.UNKNOWN,
                EnforcedBy.ADVISORY,
                false,
                0,
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }
}
