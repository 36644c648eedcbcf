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
        boolean statesAFact = event instanceof LedgerEvent.RankAdopted || event instanceof LedgerEvent.Snapshot;
        boolean isWorse = after.excess().isMoreThan(before.excess())
                || excessOfCeilings(after).isMoreThan(excessOfCeilings(before));
        if (!statesAFact && isWorse) {
            throw new IllegalStateException("ledger of " + after.device() + " would exceed its budget: promised "
                    + after.promised().value() + " B, ceilings "
                    + after.ceilings().value() + " B, budget in force "
                    + after.inForce().budget().value() + " B, after " + event);
        }
        for (Grant grant : after.grants()) {
            requireConsistent(grant, event);
        }
        return after;
    }

    private static MemoryBytes excessOfCeilings(DeviceLedger ledger) {
        return ledger.ceilings().minusOrZero(ledger.inForce().budget());
    }

    private static void requireConsistent(Grant grant, LedgerEvent event) {
        MemoryBytes targetMax = grant.targetMax();
        if (targetMax.isMoreThan(grant.ceiling()) || grant.confirmedSequence() > grant.sequence()) {
            throw new IllegalStateException("inconsistent grant " + grant + " after " + event);
        }
    }
}
