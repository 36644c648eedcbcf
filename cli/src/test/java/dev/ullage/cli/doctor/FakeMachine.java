package dev.ullage.cli.doctor;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A machine on which all is well, until a test breaks something. */
final class FakeMachine implements Machine {
    static final String SMI = "/usr/bin/nvidia-smi";
    static final String PYTHON = "/usr/bin/python3";

    final Map<String, String> variables = new HashMap<>();
    final Map<String, String> texts = new HashMap<>();
    final Map<String, String> programs = new HashMap<>();
    final Map<String, Printed> printed = new HashMap<>();
    final Set<String> existing = new HashSet<>();
    final Set<String> readOnly = new HashSet<>();
    Nvml nvml = new Nvml(Optional.of("NVML, driver 590.48.01"), 8, List.of(), "", Optional.empty());
    Path state = Path.of("/home/someone/.local/state/ullage");

    FakeMachine() {
        texts.put(
                "/proc/driver/nvidia/version",
                "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  590.48.01  Release Build");
        texts.put("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids dmem\n");
        texts.put("/proc/self/mounts", "/dev/sda1 / ext4 rw,relatime 0 0\ntmpfs /tmp tmpfs rw,nosuid 0 0\n");
        existing.addAll(Set.of("/", "/home", "/tmp", "/dev/nvidiactl", "/usr/lib64/libcuda.so.1"));
        programs.put("nvidia-smi", SMI);
        programs.put("python3", PYTHON);
        prints(SMI + " -L", "GPU 0: NVIDIA H200 (UUID: GPU-0)\nGPU 1: NVIDIA H200 (UUID: GPU-1)\n");
        prints(
                SMI + " --query-gpu=index,mig.mode.current,mig.mode.pending",
                "0, Disabled, Disabled\n1, [N/A], [N/A]\n");
        prints(PYTHON + " -c", "3.11.2 2.10.0+cu128\n");
    }

    void prints(String command, String output) {
        printed.put(command, new Printed(Optional.of(output), ""));
    }

    void fails(String command, String why) {
        printed.put(command, new Printed(Optional.empty(), why));
    }

    @Override
    public Optional<String> variable(String name) {
        return Optional.ofNullable(variables.get(name));
    }

    @Override
    public boolean exists(Path path) {
        return existing.contains(path.toString());
    }

    @Override
    public boolean isWritableFolder(Path path) {
        return existing.contains(path.toString()) && !readOnly.contains(path.toString());
    }

    @Override
    public Optional<String> text(Path file) {
        return Optional.ofNullable(texts.get(file.toString()));
    }

    @Override
    public Optional<Path> program(String name) {
        return Optional.ofNullable(programs.get(name)).map(Path::of);
    }

    @Override
    public Printed run(List<String> command) {
        return printed.getOrDefault(
                command.get(0) + " " + command.get(1), new Printed(Optional.empty(), "no such command"));
    }

    @Override
    public Nvml nvml() {
        return nvml;
    }

    @Override
    public Path stateFolder() {
        return state;
    }

    @Override
    public Path temporaryFolder() {
        return Path.of("/tmp");
    }
}
