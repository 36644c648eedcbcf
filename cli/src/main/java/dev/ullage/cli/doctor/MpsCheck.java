package dev.ullage.cli.doctor;

import java.nio.file.Path;

/** The multi-process service: one server holds the memory of all its clients, and may have limits of its own. */
final class MpsCheck implements Check {
    private static final String NAME = "MPS";
    private static final String PIPES = "CUDA_MPS_PIPE_DIRECTORY";
    private static final String LIMIT = "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT";

    @Override
    public Finding look(Machine machine) {
        Path folder = Path.of(machine.variable(PIPES).orElse("/tmp/nvidia-mps"));
        boolean runs = machine.exists(folder.resolve("control"));
        if (machine.variable(PIPES).isPresent() && !runs) {
            return Finding.warn(
                    NAME,
                    PIPES + "=" + folder + " has no control daemon",
                    "start nvidia-cuda-mps-control -d with it, or unset it: CUDA programs may wait for the daemon");
        }
        if (machine.variable(LIMIT).isPresent()) {
            return Finding.warn(
                    NAME,
                    LIMIT + " is set: a second limit, for each process, fixed when it starts",
                    "unset it for ranks that Ullage looks after");
        }
        return Finding.pass(
                NAME, runs ? "a control daemon runs in " + folder + "; its clients fail together" : "not running");
    }
}
