package dev.ullage.worker.ranks;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.TurnPlan.RankTurn;
import dev.ullage.worker.turns.TurnAnswer;
import dev.ullage.worker.turns.TurnDesk;
import java.util.Optional;
import java.util.function.Consumer;

/** One process at the desk. Its session says what it holds; its call connections ask. */
record TurnSeat(TurnDesk desk, RankInstance instance, DeviceId device) {

    /**
     * @param burst what it holds by a turn
     * @param ask the last number it took when it asked for one
     */
    void said(Optional<MemoryBytes> burst, long ask, Consumer<Optional<RankTurn>> onOffer) {
        desk.said(instance, device, burst.orElse(MemoryBytes.ZERO), ask, onOffer);
    }

    /** Waits, at most until the desk's deadline. */
    TurnAnswer ask(long ask) {
        return desk.ask(instance, ask);
    }

    void released(long ask) {
        desk.released(instance, ask);
    }
}
