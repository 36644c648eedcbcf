package dev.ullage.coordinator.planning.balance;

/**
 * A {@link PlacementRequest} as a board counts it: equal requests are one type.
 *
 * @param number of the type on its board, from 0 in the order of arrival
 * @param grains on each device
 * @param allowed by model number
 */
@SuppressWarnings("ArrayRecordComponent") // never compared; read in the innermost loops
record RequestType(
        int number,
        PlacementRequest request,
        int devices,
        int grains,
        int cpuMilli,
        int memoryMebibytes,
        boolean[] allowed) {

    /** Whether whatever can host this one can host the other, as far as amounts tell. */
    boolean isAtLeastAsHardAs(RequestType other) {
        return devices >= other.devices
                && grains >= other.grains
                && cpuMilli >= other.cpuMilli
                && memoryMebibytes >= other.memoryMebibytes;
    }

    boolean isAllowedOn(int model) {
        return allowed[model];
    }
}
