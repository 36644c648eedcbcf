package dev.ullage.worker.probe;

import java.io.IOException;

/**
 * Runs the {@link GpuChecks} in a process with its own libraries; started by {@link GpuChecksTest}. Arguments: the NVML
 * library and the {@code nvidia-smi} to compare with. Ends with code 1 when a check fails.
 */
public final class GpuChecksMain {
    private GpuChecksMain() {}

    public static void main(String[] args) throws ProbeUnavailableException, IOException {
        try (NvmlProbe probe = NvmlProbe.open(args[0])) {
            new GpuChecks(probe, args[1]).all().forEach(System.out::println);
        } catch (AssertionError e) {
            System.out.println("FAILED: " + e.getMessage());
            System.exit(1);
        }
    }
}
