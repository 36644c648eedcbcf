package dev.ullage.cli.doctor;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.config.UllageSettings;
import dev.ullage.worker.DeviceSource;
import dev.ullage.worker.probe.GpuProbe;
import dev.ullage.worker.probe.ProbeUnavailableException;
import dev.ullage.worker.probe.smi.ChildOutput;
import dev.ullage.worker.probe.smi.ChildOutput.End;
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

    @Override
    public Printed run(List<String> command) {
        try {
            Path output = Files.createTempFile("ullage-doctor", ".out");
            try {
                return await(
                        new ProcessBuilder(command)
                                .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                                .redirectOutput(output.toFile())
                                .redirectError(ProcessBuilder.Redirect.DISCARD)
                                .start(),
                        output);
            } finally {
                Files.deleteIfExists(output);
            }
        } catch (IOException e) {
            return new Printed(Optional.empty(), String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Printed(Optional.empty(), "it was interrupted");
        }
    }

    private static Printed await(Process process, Path output) throws IOException, InterruptedException {
        End end = ChildOutput.await(process, output, DEADLINE, MAX_OUTPUT_BYTES);
        if (end == End.EXITED) {
            return process.exitValue() == 0
                    ? new Printed(Optional.of(new String(Files.readAllBytes(output), StandardCharsets.UTF_8)), "")
                    : new Printed(Optional.empty(), "it ended with code " + process.exitValue());
        }
        ChildOutput.end(process);
        return new Printed(
                Optional.empty(),
                end == End.TOO_MUCH
                        ? "it prints more than " + MemoryBytes.of(MAX_OUTPUT_BYTES) + " and was ended"
                        : "it gave no answer within " + DEADLINE.toSeconds() + " s and was ended");
    }

    @Override
    public Nvml nvml() {
        try {
            GpuProbe probe = DeviceSource.nvml(settings.worker().devices());
            List<String> problems =
                    probe.problems().stream().map(problem -> problem.toString()).toList();
            Nvml seen =
                    new Nvml(Optional.of(probe.description()), probe.devices().size(), problems, "", Optional.empty());
            DeviceReaders.letGo(probe);
            return seen;
        } catch (ProbeUnavailableException e) {
            return new Nvml(Optional.empty(), 0, List.of(), e.fact(), e.remedy());
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
