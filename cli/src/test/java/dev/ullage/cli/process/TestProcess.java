package dev.ullage.cli.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A process this test has started: its output goes to a file, and it never outlives the test. */
final class TestProcess implements AutoCloseable {
    private static final Duration STOP_WITHIN = Duration.ofSeconds(30);

    private final String name;
    private final Path log;
    private final Process process;

    private TestProcess(String name, Path log, Process process) {
        this.name = name;
        this.log = log;
        this.process = process;
    }

    static TestProcess start(Path folder, String name, List<String> command, Map<String, String> environment) {
        Path log = folder.resolve(name + ".log");
        ProcessBuilder builder = new ProcessBuilder(new ArrayList<>(command))
                .redirectErrorStream(true)
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .redirectOutput(log.toFile());
        builder.environment().keySet().removeIf(TestProcess::belongsToAnOuterLauncher);
        builder.environment().putAll(environment);
        try {
            return new TestProcess(name, log, builder.start());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + command, e);
        }
    }

    private static boolean belongsToAnOuterLauncher(String variable) {
        return variable.startsWith("ULLAGE_") || variable.startsWith("OMPI_") || variable.startsWith("SLURM_");
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    String log() {
        try {
            return Files.exists(log) ? Files.readString(log, StandardCharsets.UTF_8) : "";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits for a text in the output; fails at once when the process ends without it. */
    void awaitOutput(String text, Duration within) {
        Eventually.holds(
                name + " prints \"" + text + "\"",
                within,
                () -> {
                    if (log().contains(text)) {
                        return true;
                    }
                    if (!process.isAlive()) {
                        throw new AssertionError(name + " ended with " + process.exitValue() + ":\n" + log());
                    }
                    return false;
                },
                this::log);
    }

    /** Waits for its end and returns its exit code. */
    int awaitExit(Duration within) {
        try {
            if (!process.waitFor(within.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new AssertionError(name + " did not end within " + within + ":\n" + log());
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    /** SIGTERM; returns the exit code. */
    int stop() {
        process.destroy();
        return awaitExit(STOP_WITHIN);
    }

    /** SIGKILL: no goodbye. */
    void kill() {
        process.destroyForcibly();
        awaitExit(STOP_WITHIN);
    }

    /** Sends a signal by name, such as STOP or CONT. */
    void signal(String signal) {
        try {
            int code = new ProcessBuilder("kill", "-" + signal, Long.toString(pid()))
                    .inheritIO()
                    .start()
                    .waitFor();
            if (code != 0) {
                throw new AssertionError("kill -" + signal + " " + name + " failed");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
