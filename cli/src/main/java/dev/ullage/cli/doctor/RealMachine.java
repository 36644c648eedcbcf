package dev.ullage.cli.doctor;

import dev.ullage.config.UllageSettings;
import dev.ullage.worker.DeviceSource;
import dev.ullage.worker.probe.GpuProbe;
import dev.ullage.worker.probe.ProbeUnavailableException;
import dev.ullage.worker.sampling.DeviceReaders;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The machine the process runs on. */
final class RealMachine implements Machine {
    private static final Duration DEADLINE = Duration.ofSeconds(20);
    private static final int MAX_OUTPUT_BYTES = 1 << 20;

    private final Map<String, String> variables;
    private final UllageSettings settings;

    RealMachine(Map<String, String> variables, UllageSettings settings) {
        this.variables = variables;
        this.settings = settings;
    }

    @Override
    public Optional<String> variable(String name) {
        return Optional.ofNullable(variables.get(name)).filter(value -> !value.isBlank());
    }

    @Override
    public boolean exists(Path path) {
        return Files.exists(path);
    }

    @Override
    public boolean isWritableFolder(Path path) {
        return Files.isDirectory(path) && Files.isWritable(path);
    }

    @Override
    public Optional<String> text(Path file) {
        try {
            return Optional.of(Files.readString(file));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    @Override
    public Optional<Path> program(String name) {
        for (String folder : variables.getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
            Path program = Path.of(folder, name);
            if (!folder.isEmpty() && Files.isRegularFile(program) && Files.isExecutable(program)) {
                return Optional.of(program);
            }
        }
        return Optional.empty();
    }

    /** What it prints must fit into a pipe: nobody reads it before the command has ended, so that none can hang us. */
    @Override
    public Printed run(List<String> command) {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            if (!process.waitFor(DEADLINE.toMillis(), TimeUnit.MILLISECONDS)) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
                return new Printed(Optional.empty(), "it gave no answer within " + DEADLINE.toSeconds() + " s");
            }
            String output = new String(process.getInputStream().readNBytes(MAX_OUTPUT_BYTES), StandardCharsets.UTF_8);
            return process.exitValue() == 0
                    ? new Printed(Optional.of(output), "")
                    : new Printed(Optional.empty(), "it ended with code " + process.exitValue());
        } catch (IOException e) {
            return new Printed(Optional.empty(), String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Printed(Optional.empty(), "it was interrupted");
        }
    }

    @Override
    public Nvml nvml() {
        try {
            GpuProbe probe = DeviceSource.nvml(settings.worker().devices());
            List<String> problems =
                    probe.problems().stream().map(problem -> problem.toString()).toList();
            Nvml seen =
                    new Nvml(Optional.of(probe.description()), probe.devices().size(), problems, "");
            DeviceReaders.letGo(probe);
            return seen;
        } catch (ProbeUnavailableException e) {
            return new Nvml(Optional.empty(), 0, List.of(), String.valueOf(e.getMessage()));
        }
    }

    @Override
    public Path stateFolder() {
        return settings.node().stateDir();
    }

    @Override
    public Path temporaryFolder() {
        return Path.of(System.getProperty("jna.tmpdir", System.getProperty("java.io.tmpdir", "/tmp")));
    }
}
