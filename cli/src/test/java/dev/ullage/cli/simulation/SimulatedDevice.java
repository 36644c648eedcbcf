package dev.ullage.cli.simulation;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.ledger.LedgerEvent.LimitOrdered;
import dev.ullage.common.ledger.LedgerEvent.RankAdopted;
import dev.ullage.common.ledger.LedgerEvent.Snapshot;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.simulation.SimulatedDisk;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A device as it is: its memory, its ledger's disk, the keeper while its worker runs, and what is checked about it. */
final class SimulatedDevice {
    final int number;
    final DeviceInfo info;
    final long fullBytes;
    final SimulatedDisk<LedgerEvent> disk = new SimulatedDisk<>();
    long allocatableBytes;
    long foreignBytes;

    @Nullable
    SimulatedKeeper keeper;

    /** What the disk says while no keeper runs; meaningless else. */
    @Nullable
    DeviceLedger durable;

    /** Whether a rank may have come with a limit its ledger cannot know, by no fault of the protocol. */
    boolean mayAdopt;

    /** Whether its ledger was ever lost, and with it what it knew of a pool. */
    boolean wasWiped;

    Optional<CoordinatorToken> highestToken = Optional.empty();
    private final Map<RankInstance, Long> durableSequences = new TreeMap<>();

    SimulatedDevice(int number, long fullBytes) {
        this.number = number;
        this.info = new DeviceInfo(
                new DeviceId("GPU-" + number), number, "simulated", DeviceKind.SIMULATED, Optional.empty());
        this.fullBytes = fullBytes;
        this.allocatableBytes = fullBytes;
    }

    MemoryBytes allocatable() {
        return MemoryBytes.of(allocatableBytes);
    }

    MemoryBytes foreign() {
        return MemoryBytes.of(foreignBytes);
    }

    /** The ledger as the keeper has it, or as it will be found on the disk; null before the first start. */
    @Nullable
    DeviceLedger ledger() {
        SimulatedKeeper running = keeper;
        return running == null ? durable : running.ledger();
    }

    void synced(List<LedgerEvent> events) {
        for (LedgerEvent event : events) {
            if (event instanceof LimitOrdered ordered) {
                durableSequences.put(ordered.instance(), ordered.sequence());
            } else if (event instanceof RankAdopted adopted) {
                durableSequences.put(adopted.instance(), adopted.sequence());
            } else if (event instanceof Snapshot snapshot) {
                snapshot.grants().forEach(grant -> durableSequences.put(grant.instance(), grant.sequence()));
            }
        }
    }

    /** The newest order of this rank that would survive a power cut, 0 when none. */
    long durableSequence(RankInstance instance) {
        return durableSequences.getOrDefault(instance, 0L);
    }

    /** The ledger's file is gone, and with it all that was known. */
    void wiped() {
        disk.wipe();
        durableSequences.clear();
        highestToken = Optional.empty();
        mayAdopt = true;
        wasWiped = true;
    }
}
