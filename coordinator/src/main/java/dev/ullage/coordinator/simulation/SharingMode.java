package dev.ullage.coordinator.simulation;

import dev.ullage.coordinator.planning.balance.PlacementRequest;
import dev.ullage.coordinator.planning.balance.SharingRule;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** How jobs get their devices. */
public enum SharingMode {
    /** Each job whole devices, as without a coordinator of their memory. */
    STATIC,
    /** Each job its share of each device. */
    SHARES,
    /** Shares, and the part of them that comes and goes only one job of a device at a time. */
    TURNS;

    private static final int WHOLE = 1000;

    /** As people write it: {@code static}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static Optional<SharingMode> of(String label) {
        return Arrays.stream(values())
                .filter(mode -> mode.label().equals(label))
                .findFirst();
    }

    PlacementRequest asks(PlacementRequest request) {
        return this != STATIC || request.devices() == 0
                ? request
                : new PlacementRequest(
                        request.devices(), WHOLE, request.cpuMilli(), request.hostMemory(), request.models());
    }

    SharingRule rule(int persistentMilli) {
        return this == TURNS ? new SharingRule.InTurns(persistentMilli) : new SharingRule.Beside();
    }

    @Override
    public String toString() {
        return label();
    }
}
