package dev.ullage.cli.simulation;

import dev.ullage.cli.simulation.Violation.Kind;
import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.Grant;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.MemoryBytes;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What must hold after every event. Looks at what the ranks really have in force, never only at what a ledger says. */
final class Invariants {
    private final World world;

    Invariants(World world) {
        this.world = world;
    }

    void check() {
        for (SimulatedDevice device : world.devices()) {
            checkToken(device);
            checkPromises(device);
        }
    }

    private static void checkToken(SimulatedDevice device) {
        DeviceLedger ledger = device.ledger();
        if (ledger == null) {
            return;
        }
        Optional<CoordinatorToken> now = ledger.highestToken();
        Optional<CoordinatorToken> before = device.highestToken;
        boolean fell = before.isPresent() && (now.isEmpty() || now.get().isOlderThan(before.get()));
        require(!fell, () -> "%s obeyed %s and now obeys %s".formatted(device.info.id(), before, now));
        device.highestToken = now;
    }

    private void checkPromises(SimulatedDevice device) {
        DeviceLedger ledger = device.ledger();
        long sum = 0;
        for (SimulatedRank rank : world.ranks()) {
            if (rank.device == device && rank.client().inForce().isPresent()) {
                sum += checked(rank, ledger);
            }
        }
        long inForce = sum;
        checkBursts(device, ledger, sum);
        long excess = ledger == null ? 0 : ledger.excess().value();
        long budget = ledger == null ? 0 : ledger.inForce().budget().value();
        require(excess == 0 || device.mayAdopt, () -> "%s is %d B over its budget for no reason"
                .formatted(device.info.id(), excess));
        require(inForce <= budget + excess, () -> "%s: %d B are in force at its ranks, its budget is %d B"
                .formatted(device.info.id(), inForce, budget));
    }

    /** Limits and turns together, by what the ranks really have. */
    private void checkBursts(SimulatedDevice device, @Nullable DeviceLedger ledger, long inForce) {
        long bursts = world.ranksOn(device).stream()
                .mapToLong(SimulatedRank::turnBytes)
                .sum();
        if (ledger == null || bursts == 0) {
            return;
        }
        long pool = ledger.inForce().usablePool().value();
        long budget = ledger.inForce().budget().value() + ledger.excess().value();
        require(bursts <= pool, () -> "%s: turns of %d B are out, its pool in force is %d B"
                .formatted(device.info.id(), bursts, pool));
        require(inForce + bursts <= budget + pool, () -> "%s: %d B are in force and turns of %d B, for %d B and %d B"
                .formatted(device.info.id(), inForce, bursts, budget, pool));
    }

    /** What this rank has in force, as far as its ledger can know. */
    private static long checked(SimulatedRank rank, @Nullable DeviceLedger ledger) {
        long inForce = rank.inForceBytes();
        long ceiling = ledger == null
                ? -1
                : ledger.grant(rank.instance)
                        .map(Grant::ceiling)
                        .map(MemoryBytes::value)
                        .orElse(-1L);
        MemoryBytes limit = rank.client().limit().orElse(MemoryBytes.ZERO);
        require(rank.heldBytes() <= limit.value(), () -> "%s holds %d B, and its limit was set to %s"
                .formatted(rank.instance, rank.heldBytes(), limit));
        require(
                rank.client().inForce().isEmpty()
                        || rank.heldBytes() <= inForce + rank.client().turn().value(),
                () -> "%s holds %d B, and has %d B in force and %s by a turn"
                        .formatted(
                                rank.instance,
                                rank.heldBytes(),
                                inForce,
                                rank.client().turn()));
        if (inForce <= ceiling) {
            rank.pardonIsOver();
            return inForce;
        }
        require(rank.isExcused(), () -> "%s has %d B in force, its ledger believes at most %d B"
                .formatted(rank.instance, inForce, ceiling));
        return 0;
    }

    private static void require(boolean holds, Supplier<String> message) {
        if (!holds) {
            throw new Violation(Kind.SAFETY, message.get());
        }
    }
}
