package dev.ullage.common.model;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * Which part of which GPU a MIG device is.
 *
 * @param parent the GPU it is cut from, which is no device for limits itself
 * @param gpuInstance id of its GPU instance on the parent, when the driver tells it
 * @param computeInstance id of its compute instance within that
 * @param profile {@code 2g.20gb}, when it can be told
 */
public record MigSlice(
        DeviceId parent, OptionalInt gpuInstance, OptionalInt computeInstance, Optional<String> profile) {}
