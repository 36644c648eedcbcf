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

    void said(Optional<MemoryBytes> burst, Consumer<Optional<RankTurn>> onOffer) {
        desk.said(instance, device, burst.orElse(MemoryBytes.ZERO), onOffer);
    }

    /** For one call connection. */
    Asker attached() {
        return new Asker(this, desk.attached(instance));
    }

    /** One call connection at the desk; a newer one makes it void. */
    record Asker(TurnSeat seat, long connection) {

        /** Waits, at most until the desk's deadline. */
        TurnAnswer ask() {
            return seat.desk().ask(seat.instance(), connection);
        }

        void released() {
            seat.desk().released(seat.instance(), connection);
        }
    }
}
