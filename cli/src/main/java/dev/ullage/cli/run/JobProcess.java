package dev.ullage.cli.run;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The launcher as a child of this process: its standard streams are ours, it gets the signals sent to us, and its end
 * is ours. It stays in our process group, so that it may read from the terminal.
 */
final class JobProcess {
    private @Nullable Process process;
    private final List<Integer> early = new ArrayList<>();

    /** Starts taking signals; those that come before there is a child are kept for it. */
    JobProcess() {
        PosixSignals.handle(this::signalled);
    }

    private synchronized void signalled(int signal) {
        if (process == null) {
            early.add(signal);
        } else {
            pass(process, signal);
        }
    }

    private static void pass(Process process, int signal) {
        if (signal != PosixSignals.INTERRUPT || !PosixSignals.hasTerminal()) {
            PosixSignals.send(process.pid(), signal);
        }
    }

    synchronized Process start(RunPlan plan) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(plan.command()).inheritIO();
        plan.variables()
                .forEach((name, value) ->
                        value.ifPresentOrElse(set -> builder.environment().put(name, set), () -> builder.environment()
                                .remove(name)));
        Process started = builder.start();
        process = started;
        early.forEach(signal -> PosixSignals.send(started.pid(), signal));
        return started;
    }

    /** Waits for the end, and calls {@code look} about every {@code seconds} until then. */
    static int await(Process process, int seconds, Runnable look) throws InterruptedException {
        while (!process.waitFor(seconds, TimeUnit.SECONDS)) {
            look.run();
        }
        return process.exitValue();
    }
}
