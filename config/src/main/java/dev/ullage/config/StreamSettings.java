package dev.ullage.config;

import java.time.Duration;

/**
 * How the cluster is shown live to those who watch.
 *
 * @param interval between two snapshots
 * @param maxReaders how many may watch at once, at this node
 * @param buffer how many messages may wait for a reader before it is dropped
 */
public record StreamSettings(Duration interval, int maxReaders, int buffer) {

    public static StreamSettings defaults() {
        return new StreamSettings(Duration.ofMillis(500), 64, 16);
    }
}
