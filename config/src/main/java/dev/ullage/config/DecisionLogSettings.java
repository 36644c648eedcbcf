package dev.ullage.config;

import dev.ullage.common.model.MemoryBytes;

/**
 * The file in which a coordinator keeps what it decided.
 *
 * @param maxBytes size at which it is rotated
 * @param files how many there are at most, with those that were rotated; 1 or more
 */
public record DecisionLogSettings(boolean enabled, MemoryBytes maxBytes, int files) {

    public static DecisionLogSettings defaults() {
        return new DecisionLogSettings(true, MemoryBytes.ofMebibytes(16), 4);
    }
}
