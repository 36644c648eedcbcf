package dev.ullage.cli.simulation;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.LedgerCommand.Acknowledge;
import dev.ullage.common.ledger.LedgerCommand.Confirm;
import dev.ullage.common.ledger.LedgerCommand.Desire;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.simulation.ClientModel;
import dev.ullage.common.simulation.ClientModel.InForce;
import dev.ullage.worker.limits.KeeperLogic;
import java.util.List;
import java.util.Optional;

/** The rules of the protocol as they are; a mutant overrides one. Production code knows nothing of this. */
class Rules {

    /** Whether an append reaches the disk. */
    boolean persists() {
        return true;
    }

    /** Whether orders leave before their events are durable. */
    boolean sendsBeforePersisting() {
        return false;
    }

    /** Whether an order that leaves too early is noticed at once, and not only by what comes of it. */
    boolean isDurabilityChecked() {
        return true;
    }

    /** A coordinator wants to be obeyed. */
    void beforeAcknowledge(SimulatedKeeper keeper, Acknowledge acknowledge) {}

    /** A plan is about to be decided on. */
    void beforeDesire(SimulatedKeeper keeper, Desire desire) {}

    /** Anything was decided, persisted and sent. */
    void afterDecision(SimulatedKeeper keeper) {}

    /** What a rank said, as its keeper takes it. */
    Confirm heard(Confirm confirm, DeviceLedger ledger) {
        return confirm;
    }

    /** What bursts on a device may come to, by its keeper. */
    MemoryBytes burstsAllowed(KeeperLogic logic) {
        return logic.burstsAllowed();
    }

    /** What they may come to until the keeper asks again, by the desk. */
    MemoryBytes burstBound(MemoryBytes bound, MemoryBytes allowed) {
        return bound;
    }

    /** Who may hold a turn from before a worker's start. */
    List<RankInstance> silent(List<RankInstance> granted) {
        return granted;
    }

    /** A process's client: new, or with what was in force before an exec. */
    ClientModel client(RankInstance instance, Optional<InForce> before) {
        return before.map(inForce -> new ClientModel(instance, inForce)).orElseGet(ClientModel::new);
    }
}
