package dev.ullage.cli.doctor;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Whether the kernel could hold a process to its device memory. */
final class CgroupCheck implements Check {
    private static final String NAME = "cgroup";
    private static final Path CONTROLLERS = Path.of("/sys/fs/cgroup/cgroup.controllers");

    @Override
    public Finding look(Machine machine) {
        Optional<String> controllers = machine.text(CONTROLLERS);
        if (controllers.isEmpty()) {
            return Finding.warn(
                    NAME,
                    "version 2 is not mounted at /sys/fs/cgroup: limits are held by the ranks' allocators only",
                    "start the system with systemd.unified_cgroup_hierarchy=1");
        }
        boolean hasDmem = List.of(controllers.get().strip().split("\\s+")).contains("dmem");
        return Finding.pass(
                NAME,
                hasDmem
                        ? "version 2 with dmem"
                        : "version 2 without dmem (kernel 6.14): limits are held by the ranks' allocators only");
    }
}
