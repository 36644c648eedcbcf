package dev.ullage.worker.probe.smi;

import java.util.Optional;

/**
 * A process as the tool lists it.
 *
 * @param pid as the tool's system sees it; inside a container often another one's
 * @param used its memory on the device
 * @param instance the part of a device in MIG mode that it runs on, where that is printed
 */
public record SmiProcess(long pid, String name, SmiAmount used, Optional<MigInstance> instance) {
    private static final long NO_PID = 0xFFFF_FFFFL;

    /**
     * @param gpu the GPU instance's id, which owns the memory
     * @param compute the compute instance's id, which owns processors
     */
    public record MigInstance(int gpu, int compute) {}

    /** Process ids that only a list read with the wrong layout has (case A05). */
    boolean isPossible() {
        return pid > 0 && pid < NO_PID;
    }
}
