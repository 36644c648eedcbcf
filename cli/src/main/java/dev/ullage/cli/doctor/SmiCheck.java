package dev.ullage.cli.doctor;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The tool of the last resort, and whether it answers. */
final class SmiCheck implements Check {
    private static final String NAME = "nvidia-smi";

    @Override
    public Finding look(Machine machine) {
        Optional<Path> program = machine.program("nvidia-smi");
        if (program.isEmpty()) {
            return Finding.warn(
                    NAME,
                    "not on the PATH; without NVML there would be nothing to fall back to",
                    "install the driver's utilities (nvidia-utils), in a container NVIDIA_DRIVER_CAPABILITIES=utility");
        }
        Machine.Printed list = machine.run(List.of(program.get().toString(), "-L"));
        if (list.output().isEmpty()) {
            return Finding.warn(
                    NAME,
                    program.get() + " cannot be used: " + list.failure(),
                    "run it by hand, and look at dmesg for Xid errors: a device may be lost and need a reset or a"
                            + " restart of the host");
        }
        long devices = list.output()
                .get()
                .lines()
                .filter(line -> line.startsWith("GPU "))
                .count();
        return Finding.pass(NAME, program.get() + ", devices: " + devices);
    }
}
