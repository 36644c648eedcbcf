package dev.ullage.common.model;

/**
 * How good the readings of a device are.
 *
 * @param state of the newest one
 * @param lostSamples rounds that went by without a usable answer since the worker started
 */
public record SampleQuality(SampleState state, long lostSamples) {}
