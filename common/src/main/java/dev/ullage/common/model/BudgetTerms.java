package dev.ullage.common.model;

import java.util.Optional;

/**
 * What a device's budget follows from: {@code capacity = floor(allocatable x (1 - reserve)) - foreign} and
 * {@code budget = capacity - pool}, neither below zero (docs/architecture.md, "Arithmetic").
 *
 * @param allocatable device total less what the driver keeps for itself
 * @param reserve the share of the allocatable memory that no rank may be promised
 * @param foreign memory of processes that are no rank of ours
 * @param pool what is kept for bursts, which one job at a time may use (docs/turns.md); empty: nothing, and so is zero
 */
public record BudgetTerms(MemoryBytes allocatable, Share reserve, MemoryBytes foreign, Optional<MemoryBytes> pool) {

    public BudgetTerms {
        pool = pool.filter(bytes -> !bytes.isZero());
    }

    /** Without a pool. */
    public BudgetTerms(MemoryBytes allocatable, Share reserve, MemoryBytes foreign) {
        this(allocatable, reserve, foreign, Optional.empty());
    }

    /** What limits and bursts together may come to. */
    public MemoryBytes capacity() {
        return allocatable.times(reserve.complement()).minusOrZero(foreign);
    }

    /** What limits together may come to. */
    public MemoryBytes budget() {
        return capacity().minusOrZero(pool.orElse(MemoryBytes.ZERO));
    }

    /** What bursts together may come to: the pool, but where less than that is left. */
    public MemoryBytes usablePool() {
        return pool.orElse(MemoryBytes.ZERO).min(capacity());
    }

    public BudgetTerms withReserve(Share newReserve) {
        return new BudgetTerms(allocatable, newReserve, foreign, pool);
    }

    public BudgetTerms withMeasured(MemoryBytes newAllocatable, MemoryBytes newForeign) {
        return new BudgetTerms(newAllocatable, reserve, newForeign, pool);
    }

    public BudgetTerms withPool(Optional<MemoryBytes> newPool) {
        return new BudgetTerms(allocatable, reserve, foreign, newPool);
    }

    @Override
    public String toString() {
        String kept = pool.map(bytes -> ", pool " + bytes).orElse("");
        return budget() + " (allocatable " + allocatable + ", reserve " + reserve + ", foreign " + foreign + kept + ")";
    }
}
