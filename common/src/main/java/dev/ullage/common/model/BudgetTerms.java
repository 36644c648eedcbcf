package dev.ullage.common.model;

/**
 * What a device's budget follows from: {@code budget = floor(allocatable x (1 - reserve)) - foreign}, not below zero
 * (docs/architecture.md, "Arithmetic").
 *
 * @param allocatable device total less what the driver keeps for itself
 * @param reserve the share of the allocatable memory that no rank may be promised
 * @param foreign memory of processes that are no rank of ours
 */
public record BudgetTerms(MemoryBytes allocatable, Share reserve, MemoryBytes foreign) {

    public MemoryBytes budget() {
        return allocatable.times(reserve.complement()).minusOrZero(foreign);
    }

    public BudgetTerms withReserve(Share newReserve) {
        return new BudgetTerms(allocatable, newReserve, foreign);
    }

    public BudgetTerms withMeasured(MemoryBytes newAllocatable, MemoryBytes newForeign) {
        return new BudgetTerms(newAllocatable, reserve, newForeign);
    }

    @Override
    public String toString() {
        return budget() + " (allocatable " + allocatable + ", reserve " + reserve + ", foreign " + foreign + ")";
    }
}
