package dev.ullage.common.ledger;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.ReservationId;
import java.util.Collection;
import java.util.Optional;

/**
 * The promises on one device at one point, and what follows from them: of a ledger, and in the middle of its events.
 */
interface LedgerState {
    DeviceId device();

    Optional<CoordinatorToken> highestToken();

    BudgetTerms wanted();

    BudgetTerms inForce();

    /** All grants, ordered by instance. */
    Collection<Grant> grants();

    Optional<Grant> grant(RankInstance instance);

    /** All reservations, ordered by their names. */
    Collection<HeldReservation> reservations();

    Optional<HeldReservation> reservation(ReservationId id);

    /** The sum of the ceilings: all that may be in use by right. */
    MemoryBytes ceilings();

    /** What is kept for the job beyond what its ranks here have: they may take it, and nobody else. */
    MemoryBytes outstanding(JobId job);

    /** The sum of that over all jobs. */
    MemoryBytes outstanding();

    /** All that is promised: the ceilings, and what is kept for jobs beyond theirs. */
    default MemoryBytes promised() {
        return ceilings().plus(outstanding());
    }

    /** How far what is promised lies above the budget in force; zero but after {@link LedgerEvent.RankAdopted}. */
    default MemoryBytes excess() {
        return promised().minusOrZero(inForce().budget());
    }

    /** What may still be promised to anybody: nothing while the wanted budget is smaller than what is promised. */
    default MemoryBytes free() {
        return leastBudget().minusOrZero(promised());
    }

    /**
     * What a rank of the job may still be promised: what is free, and what is kept for the job. On a device that is
     * over its budget a promise to a job is no reason to go further over it.
     */
    default MemoryBytes room(JobId job) {
        return free().plus(outstanding(job)).min(leastBudget().minusOrZero(ceilings()));
    }

    /** The budget that both the terms in force and the wanted ones allow. */
    default MemoryBytes leastBudget() {
        return wanted().budget().min(inForce().budget());
    }

    /** Whether what is promised does not fit the wanted budget yet: only shrinks are admitted. */
    default boolean isOverBudget() {
        return promised().isMoreThan(wanted().budget());
    }
}
