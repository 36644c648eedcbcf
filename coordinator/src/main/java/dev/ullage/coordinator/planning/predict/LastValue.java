package dev.ullage.coordinator.planning.predict;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;

/**
 * {@code limit = last + floor(last x room)}. Without room it is the baseline of every forecast; with 25 % it is what a
 * limit amounts to that the use may fill to 80 %.
 *
 * @param room 0 % to 100 %
 */
public record LastValue(Share room) implements DemandPredictor {

    @Override
    public Prediction observe(MemoryBytes used) {
        return new Prediction(Room.over(used, room), used);
    }
}
