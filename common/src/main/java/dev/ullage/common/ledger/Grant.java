package dev.ullage.common.ledger;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import java.util.Optional;

/**
 * What one process of a rank was promised on a device.
 *
 * @param instance the process
 * @param share the part of its fair limit the operator left it; kept here so that a new coordinator learns it
 * @param target the newest order's limits; empty before the first order
 * @param sequence number of the newest order, 0 before the first; grows by one with every order
 * @param confirmedSequence the newest order the rank has confirmed, 0 when none
 * @param ceiling the highest limit the rank may still believe it has
 */
public record Grant(
        RankInstance instance,
        Share share,
        Optional<PhaseLimits> target,
        long sequence,
        long confirmedSequence,
        MemoryBytes ceiling) {

    static Grant joined(RankInstance instance, long sequence, MemoryBytes ceiling) {
        return new Grant(instance, Share.ALL, Optional.empty(), sequence, sequence, ceiling);
    }

    Grant ordered(long newSequence, PhaseLimits limits, Share newShare) {
        return new Grant(
                instance, newShare, Optional.of(limits), newSequence, confirmedSequence, ceiling.max(limits.max()));
    }

    Grant confirmed(long newConfirmed, MemoryBytes newCeiling) {
        return new Grant(instance, share, target, sequence, newConfirmed, newCeiling);
    }

    /** The rank is not where its confirmations said: its order, if it has one, is outstanding again. */
    Grant adopted(long newSequence, MemoryBytes newCeiling) {
        long confirmed = target.isPresent() ? Math.min(confirmedSequence, newSequence - 1) : newSequence;
        return new Grant(instance, share, target, newSequence, confirmed, newCeiling);
    }

    /** The highest limit the newest order allows; zero before the first. */
    public MemoryBytes targetMax() {
        return target.map(PhaseLimits::max).orElse(MemoryBytes.ZERO);
    }

    /** Whether an order was sent that the rank has not confirmed yet. */
    public boolean isOutstanding() {
        return target.isPresent() && confirmedSequence < sequence;
    }

    /** Whether the rank has said that nothing above its target is in force any more. */
    public boolean isSettled() {
        return !isOutstanding() && ceiling.equals(targetMax());
    }
}
