package dev.ullage.common.ledger;

import dev.ullage.common.model.MemoryBytes;

/** What must hold after every event, in production as in the simulation. A violation is a bug: the owner stops. */
public final class LedgerInvariants {
    private LedgerInvariants() {}

    /**
     * What is promised lies within the budget in force. Where a rank came with a limit the ledger did not know it may
     * exceed it; then nothing but such an event raises the excess, neither that of what is promised nor that of the
     * ceilings alone.
     *
     * @throws IllegalStateException with the event and the numbers
     */
    public static DeviceLedger requireWithinBudget(DeviceLedger before, LedgerEvent event, DeviceLedger after) {
        Excess.of(before).requireNoMore(event, after);
        for (Grant grant : after.grants()) {
            requireConsistent(grant, event);
        }
        return after;
    }

    /**
     * How far a state lies above its budget in force.
     *
     * @param promised with all that is promised
     * @param ceilings with the ceilings alone
     */
    record Excess(MemoryBytes promised, MemoryBytes ceilings) {
        static Excess of(LedgerState state) {
            return new Excess(
                    state.excess(), state.ceilings().minusOrZero(state.inForce().budget()));
        }

        /** @param state after the event */
        void requireNoMore(LedgerEvent event, LedgerState state) {
            Excess after = of(state);
            boolean statesAFact = event instanceof LedgerEvent.RankAdopted || event instanceof LedgerEvent.Snapshot;
            boolean isWorse = after.promised.isMoreThan(promised) || after.ceilings.isMoreThan(ceilings);
            if (!statesAFact && isWorse) {
                throw new IllegalStateException("ledger of " + state.device() + " would exceed its budget: promised "
                        + state.promised().value() + " B, ceilings "
                        + state.ceilings().value() + " B, budget in force "
                        + state.inForce().budget().value() + " B, after " + event);
            }
        }
    }

    static void requireConsistent(Grant grant, LedgerEvent event) {
        MemoryBytes targetMax = grant.targetMax();
        if (targetMax.isMoreThan(grant.ceiling()) || grant.confirmedSequence() > grant.sequence()) {
            throw new IllegalStateException("inconsistent grant " + grant + " after " + event);
        }
    }
}
