package dev.ullage.cli.doctor;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Whether CUDA's library is where the loader looks. It is not loaded: that would be a context on a device. */
final class CudaCheck implements Check {
    private static final String NAME = "CUDA library";
    private static final String LIBRARY = "libcuda.so.1";
    private static final List<String> FOLDERS = List.of(
            "/usr/lib/x86_64-linux-gnu",
            "/usr/lib/aarch64-linux-gnu",
            "/usr/lib64",
            "/usr/lib",
            "/usr/lib/wsl/lib",
            "/usr/local/nvidia/lib64",
            "/usr/lib/aarch64-linux-gnu/tegra",
            "/run/opengl-driver/lib");

    @Override
    public Finding look(Machine machine) {
        List<String> folders = new ArrayList<>();
        machine.variable("LD_LIBRARY_PATH").ifPresent(path -> folders.addAll(List.of(path.split(":"))));
        folders.addAll(FOLDERS);
        Optional<Path> found = folders.stream()
                .filter(folder -> !folder.isBlank())
                .map(folder -> Path.of(folder, LIBRARY))
                .filter(machine::exists)
                .findFirst();
        return found.map(path -> Finding.pass(NAME, path.toString()))
                .orElseGet(() -> Finding.warn(
                        NAME,
                        LIBRARY + " is in none of the usual folders; ranks that use CUDA will not find it either",
                        "install the driver's CUDA part (libcuda1, nvidia-driver-cuda-libs), or set LD_LIBRARY_PATH"));
    }
}
