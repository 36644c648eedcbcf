package dev.ullage.worker.probe.smi;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.worker.probe.smi.ChildOutput.End;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Runs {@code nvidia-smi}: one child at a time, ended at a deadline, and when it prints without end. A child that is
 * stuck in the driver cannot be ended even by SIGKILL; for as long as it is there no second one is started, since it
 * would only wait behind the first.
 */
final class SmiChild implements SmiTool {
    /** Without persistence mode the tool wakes every device up first, which takes seconds for each. */
    static final Duration DEADLINE = Duration.ofSeconds(20);

    private static final Duration TIME_TO_DIE = Duration.ofSeconds(2);
    private static final int MAX_OUTPUT_BYTES = 16 << 20;

    private final String program;
    private final Duration deadline;
    private final Duration timeToDie;
    private final Starter starter;
    private Optional<Process> stuck = Optional.empty();

    /** Starts a process that writes to a file. */
    interface Starter {
        Process start(List<String> command, Path output) throws IOException;
    }

    SmiChild(String program, Duration deadline) {
        this(program, deadline, TIME_TO_DIE, SmiChild::start);
    }

    SmiChild(String program, Duration deadline, Duration timeToDie, Starter starter) {
        this.program = program;
        this.deadline = deadline;
        this.timeToDie = timeToDie;
        this.starter = starter;
    }

    /** What it writes to standard error is not its output: libraries preloaded into it write their logs there. */
    private static Process start(List<String> command, Path output) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectOutput(output.toFile())
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().put("LC_ALL", "C");
        return builder.start();
    }

    @Override
    public synchronized Answer run(List<String> arguments) {
        if (stuck.filter(Process::isAlive).isPresent()) {
            return Answer.failed(stuckText(stuck.get()));
        }
        stuck = Optional.empty();
        List<String> command = new ArrayList<>(List.of(program));
        command.addAll(arguments);
        try {
            Path output = Files.createTempFile("ullage-smi", ".out");
            try {
                return await(starter.start(command, output), output);
            } finally {
                Files.deleteIfExists(output);
            }
        } catch (IOException e) {
            return Answer.failed(program + " cannot be run: " + reason(e));
        }
    }

    /** Without the program, which is said already, and the number of the error. */
    private static String reason(IOException e) {
        return String.valueOf(e.getMessage()).replaceFirst("^Cannot run program .*?: (?:error=\\d+, )?", "");
    }

    private Answer await(Process child, Path output) throws IOException {
        try {
            End end = ChildOutput.await(child, output, deadline, MAX_OUTPUT_BYTES);
            if (end == End.EXITED) {
                return answer(output, child.exitValue());
            }
            end(child);
            if (stuck.isPresent()) {
                return Answer.failed(stuckText(child));
            }
            return Answer.failed(
                    end == End.TOO_MUCH
                            ? "%s prints more than %s and was ended"
                                    .formatted(program, MemoryBytes.of(MAX_OUTPUT_BYTES))
                            : "%s gave no answer within %d ms and was ended".formatted(program, deadline.toMillis()));
        } catch (InterruptedException e) {
            end(child);
            Thread.currentThread().interrupt();
            return Answer.failed(program + " was ended because this worker ends");
        }
    }

    private void end(Process child) {
        ChildOutput.end(child);
        try {
            if (child.waitFor(timeToDie.toMillis(), TimeUnit.MILLISECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        stuck = Optional.of(child);
    }

    private String stuckText(Process child) {
        return ("%s (process %d) gives no answer and cannot be ended: it is stuck in the driver;"
                        + " no second one is started while it is there")
                .formatted(program, child.pid());
    }

    private Answer answer(Path output, int exitCode) throws IOException {
        String text = new String(Files.readAllBytes(output), StandardCharsets.UTF_8);
        return text.isBlank()
                ? Answer.failed("%s printed nothing and ended with code %d".formatted(program, exitCode))
                : Answer.of(text);
    }
}
