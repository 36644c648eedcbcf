package dev.ullage.config;

import dev.ullage.common.model.Share;

/**
 * How closely a worker watches what its ranks do with their memory.
 *
 * @param steps how many of a rank's last steps its peaks are of, 10 or more
 * @param snapshotSteps steps between two snapshots of an allocator; 0: none
 * @param snapshots how many are kept for each rank, 1 or more
 * @param fragmentation from which a rank may be asked for its cache
 * @param free part of a device below which that is worth it
 */
public record WatchSettings(int steps, int snapshotSteps, int snapshots, Share fragmentation, Share free) {

    public static WatchSettings defaults() {
        return new WatchSettings(100, 500, 8, Share.ofPercent(25), Share.ofPercent(10));
    }
}
