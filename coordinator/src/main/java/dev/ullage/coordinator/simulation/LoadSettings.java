package dev.ullage.coordinator.simulation;

import java.time.Duration;

/**
 * What a run under load is made with.
 *
 * @param load what arrives of devices x time, relative to what there is, more than 0; shares count as shares in every
 *     mode
 * @param longest jobs that ran longer count as this long
 * @param warmUp from the empty cluster to the first second that counts
 * @param measured from there on
 * @param persistentMilli part of a share that stays between the peaks of a step, for {@link SharingMode#TURNS}
 */
public record LoadSettings(double load, Duration longest, Duration warmUp, Duration measured, int persistentMilli) {}
