package dev.ullage.coordinator.planning.predict;

import dev.ullage.common.model.MemoryBytes;

/**
 * Of the next step.
 *
 * @param limit what would be given: seldom less than what is used, and not much more
 * @param forecast what is most likely used; a good forecast is too low half of the time, so it is no limit
 */
public record Prediction(MemoryBytes limit, MemoryBytes forecast) {}
