package dev.ullage.common.protocol;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import java.util.Optional;

/**
 * A grant as its ledger has it.
 *
 * @param target the newest order; empty before the first
 * @param sequence its number, 0 before the first
 * @param confirmedSequence the newest order the rank confirmed
 * @param ceiling the highest limit the rank may still believe
 * @param policy what its rank asks for, where it has said so since the worker's start
 * @param planned what its rank was estimated to need, likewise
 */
public record GrantReport(
        RankInstance instance,
        Share share,
        Optional<PhaseLimits> target,
        long sequence,
        long confirmedSequence,
        MemoryBytes ceiling,
        Optional<String> policy,
        Optional<PlannedNeeds> planned) {

    /** Of a rank that asks for no policy. */
    public GrantReport(
            RankInstance instance,
            Share share,
            Optional<PhaseLimits> target,
            long sequence,
            long confirmedSequence,
            MemoryBytes ceiling) {
        this(instance, share, target, sequence, confirmedSequence, ceiling, Optional.empty());
    }

    /** Of a rank of which nobody estimated what it needs. */
    public GrantReport(
            RankInstance instance,
            Share share,
            Optional<PhaseLimits> target,
            long sequence,
            long confirmedSequence,
            MemoryBytes ceiling,
            Optional<String> policy) {
        this(instance, share, target, sequence, confirmedSequence, ceiling, policy, Optional.empty());
    }

    /** Whether the rank has confirmed its newest order and nothing above it is in force. */
    public boolean isSettled() {
        return sequence == confirmedSequence
                && target.map(limits -> limits.max().equals(ceiling)).orElse(ceiling.isZero());
    }
}
