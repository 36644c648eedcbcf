package dev.ullage.worker.turns;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.TurnPlan;
import java.util.List;
import java.util.Optional;

/**
 * What a desk is told. Each time a process asks it takes a greater number; what it says may come late, twice or in
 * another order, and whatever has an older number than its newest is void.
 */
public sealed interface TurnInput {

    /**
     * At the start of the worker: the pool that was in force when it ended, and the processes that may hold part of it.
     */
    record Replayed(DeviceId device, MemoryBytes pool, List<RankInstance> silent) implements TurnInput {
        public Replayed {
            silent = List.copyOf(silent);
        }
    }

    /** The newest plan of a coordinator for the device. */
    record Planned(DeviceId device, Optional<TurnPlan> plan) implements TurnInput {}

    /** From the device's keeper: bursts there may come to this much, from now on. */
    record Allowed(DeviceId device, MemoryBytes allowed) implements TurnInput {}

    /**
     * A process said hello. It holds and waits for nothing but what it says.
     *
     * @param burst what it holds by a turn, zero when it has none
     * @param ask the last number it took, 0 when none
     */
    record Said(RankInstance instance, DeviceId device, MemoryBytes burst, long ask) implements TurnInput {}

    /** A process wants a turn, and waits. */
    record Asked(RankInstance instance, long ask) implements TurnInput {}

    /** A process holds nothing by what it asked for up to this number, and waits for nothing of it. */
    record Released(RankInstance instance, long ask) implements TurnInput {}

    /** A process has waited for as long as it may. */
    record Overdue(RankInstance instance, long ask) implements TurnInput {}

    /** A process is gone, and its memory with it. */
    record Left(RankInstance instance) implements TurnInput {}
}
