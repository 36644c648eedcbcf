package dev.ullage.worker.probe;

import java.io.IOException;
import org.opentest4j.TestAbortedException;

/**
 * Runs the {@link GpuChecks} in a process of their own and prints one line for each: {@code pass}, {@code FAIL} or
 * {@code skip}, its name, and what it found or why not, with tabs between. Started by {@code dev/checks/gpu.sh} and by
 * {@link GpuChecksTest}. Arguments: the NVML library and the {@code nvidia-smi} to compare with. Ends with code 1 when
 * a check fails.
 */
public final class GpuChecksMain {
    private GpuChecksMain() {}

    public static void main(String[] args) {
        boolean fails = false;
        try (NvmlProbe probe = NvmlProbe.open(args[0])) {
            for (GpuChecks.Named named : new GpuChecks(probe, args[1]).named()) {
                fails |= fails(named);
            }
        } catch (ProbeUnavailableException e) {
            print("skip", "all checks", String.valueOf(e.getMessage()));
        }
        System.exit(fails ? 1 : 0);
    }

    private static boolean fails(GpuChecks.Named named) {
        try {
            print("pass", named.name(), named.check().find());
            return false;
        } catch (TestAbortedException e) {
            print("skip", named.name(), String.valueOf(e.getMessage()));
            return false;
        } catch (AssertionError | RuntimeException | IOException e) {
            print("FAIL", named.name(), String.valueOf(e.getMessage()));
            return true;
        }
    }

    private static void print(String result, String name, String text) {
        System.out.println(result + "\t" + name + "\t" + text.strip().replaceAll("\\s+", " "));
    }
}
