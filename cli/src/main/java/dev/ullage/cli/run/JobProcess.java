package dev.ullage.cli.run;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The launcher as a child of this process: its standard streams are ours, it gets the signals sent to us, and its end
 * is ours. It stays in our process group, so that it may read from the terminal.
 */
final class JobProcess {
    private @Nullable Process process;
    private final List<Integer> early = new ArrayList<>();
    private final CountDownLatch stopped = new CountDownLatch(1);

    /** Starts taking signals; those that come before there is a child are kept for it. */
    JobProcess() {
        PosixSignals.handle(this::signalled);
    }

    private synchronized void signalled(int signal) {
        if (process == null) {
            early.add(signal);
            if (PosixSignals.ends(signal)) {
                stopped.countDown();
            }
        } else {
            pass(process, signal);
        }
    }

    private static void pass(Process process, int signal) {
        if (signal != PosixSignals.INTERRUPT || !PosixSignals.hasTerminal()) {
            PosixSignals.send(process.pid(), signal);
        }
    }

    /** The first signal that means an end and came while there was no child. */
    synchronized OptionalInt stopSignal() {
        return early.stream()
                .filter(PosixSignals::ends)
                .mapToInt(Integer::intValue)
                .findFirst();
    }

    /** Waits for so long, or until such a signal comes. */
    void awaitSignal(Duration atMost) throws InterruptedException {
        stopped.await(Math.max(1, atMost.toMillis()), TimeUnit.MILLISECONDS);
    }

    /** Asks the child to end. */
    synchronized void end() {
        if (process != null) {
            PosixSignals.send(process.pid(), PosixSignals.TERMINATE);
        }
    }

    /** The child has ended, and there may be another. */
    synchronized void ended() {
        process = null;
        early.clear();
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
