package dev.ullage.common.model;

import java.util.Optional;

/**
 * How the driver describes a device. Only the id stays what it is: a driver may number its devices anew, and does when
 * one is lost.
 *
 * @param id UUID, the only name a device is ever joined by
 * @param index position in the driver's (PCI bus) order, 0 or more, of a MIG device that of its parent; for people and
 *     for resolving ordinals only
 * @param name product name as the driver gives it
 * @param kind what it is
 * @param pciBusId {@code 00000000:3B:00.0}, when it has one
 * @param mig present for a MIG device
 */
public record DeviceInfo(
        DeviceId id, int index, String name, DeviceKind kind, Optional<String> pciBusId, Optional<MigSlice> mig) {

    /** A device that is no slice of another. */
    public DeviceInfo(DeviceId id, int index, String name, DeviceKind kind, Optional<String> pciBusId) {
        this(id, index, name, kind, pciBusId, Optional.empty());
    }
}
