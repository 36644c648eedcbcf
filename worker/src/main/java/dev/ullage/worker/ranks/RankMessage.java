package dev.ullage.worker.ranks;

import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NeedsRestart;
import dev.ullage.common.model.OomKind;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.common.protocol.OomReport.Figures;
import dev.ullage.common.protocol.OomReport.Means;
import dev.ullage.worker.watch.StepSummary;
import dev.ullage.worker.watch.TrainingReport;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** What a rank may say (docs/protocol.md, section 1). */
sealed interface RankMessage {

    /**
     * @param pid the process it claims to be; checked against the peer's user
     * @param namespace whose pid that is; empty: the worker's
     * @param inForce the order it has applied, when it was ever given one
     * @param turn what it holds on top of that by a turn, when it has one
     * @param lastAsk the last number it took when it asked for a turn, 0 when it never did
     * @param directive the newest directive it holds after an out-of-memory error of its job
     * @param planned what it was estimated to need, when it was started with an estimate
     */
    record Hello(
            RankId rank,
            long pid,
            Optional<Namespace> namespace,
            RankFacts facts,
            DeviceWish wish,
            Optional<InForce> inForce,
            Optional<MemoryBytes> held,
            Optional<MemoryBytes> turn,
            long lastAsk,
            Optional<JobDirective> directive,
            Optional<PlannedNeeds> planned)
            implements RankMessage {

        /** The same, with the local rank that the worker knows it by. */
        Hello withLocalRank(OptionalInt localRank) {
            return new Hello(
                    rank,
                    pid,
                    namespace,
                    facts.withLocalRank(localRank),
                    wish,
                    inForce,
                    held,
                    turn,
                    lastAsk,
                    directive,
                    planned);
        }

        /** The same, by the pid that its process has in the worker's namespace. */
        Hello withPid(long here) {
            return new Hello(
                    rank, here, Optional.empty(), facts, wish, inForce, held, turn, lastAsk, directive, planned);
        }
    }

    /**
     * What a pid means: a process in a container has one there and another on the host.
     *
     * @param id the kernel's number of the pid namespace
     * @param startTicks clock ticks between boot and the start of the process
     */
    record Namespace(long id, long startTicks) {}

    /** A limit that a process says is in force. */
    record InForce(long sequence, MemoryBytes limit) {}

    /**
     * What decides which device a rank is on, as its variables are: {@code CUDA_VISIBLE_DEVICES},
     * {@code ULLAGE_DEVICE}, {@code CUDA_DEVICE_ORDER} and {@code NVIDIA_VISIBLE_DEVICES}.
     */
    record DeviceWish(
            Optional<String> visibleDevices,
            Optional<String> device,
            Optional<String> deviceOrder,
            Optional<String> containerDevices) {}

    /** @param needsRestart what only a restart of the process could bring in force */
    record Confirm(
            long sequence,
            MemoryBytes inForce,
            Optional<MemoryBytes> held,
            EnforcedBy enforcedBy,
            Optional<NeedsRestart> needsRestart)
            implements RankMessage {}

    record Usage(RankUse use) implements RankMessage {}

    /** What the rank's allocator did up to the end of a step. */
    record Watched(StepSummary summary) implements RankMessage {}

    record SnapshotTaken(RankWatch.Snapshot snapshot) implements RankMessage {}

    /** What its client has counted. */
    record Reported(TrainingReport report) implements RankMessage {}

    /** @param release empty when the allocator does not know what it holds */
    record CacheReleased(Optional<RankWatch.CacheRelease> release) implements RankMessage {}
    /** It ran out of memory; {@code sequence} is the newest directive it had applied by then, 0 when none. */
    record RanOut(long sequence, long step, Phase phase, OomKind kind, Figures figures, Means means)
            implements RankMessage {}

    /**
     * @param directive empty when only a newer worker knows its level
     * @param used what its allocator had handed out afterwards
     */
    record DirectiveApplied(Optional<JobDirective> directive, Optional<MemoryBytes> used) implements RankMessage {}

    record Bye() implements RankMessage {}

    /**
     * What only a newer client says; this worker goes on without.
     *
     * @param what it is, for the log: short, without control characters
     * @param id present when an answer is wanted
     */
    record NotKnown(String what, OptionalLong id) implements RankMessage {}

    record Attach(String session, String token) implements RankMessage {}

    /** It wants a turn, and waits for the answer. Each time it asks it takes a greater number. */
    record TurnAsked(long id) implements RankMessage {}

    /** It holds nothing by a turn that it asked for up to this number, and waits for none of them. */
    record TurnReleased(long id) implements RankMessage {}

    /** @param id present when an answer is wanted */
    record PhaseEntered(Phase phase, OptionalLong step, OptionalLong id) implements RankMessage {}
}
