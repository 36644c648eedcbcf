package dev.ullage.cli.simulate;

import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Independent runs on all processors; results in the order in which they were asked for. */
final class ParallelRuns {
    private ParallelRuns() {}

    static <T> List<T> all(List<Callable<T>> runs, int threads) throws CommandFailure {
        ExecutorService workers = Executors.newFixedThreadPool(threads, task -> {
            Thread thread = new Thread(task, "ullage-simulate");
            thread.setDaemon(true);
            return thread;
        });
        try {
            List<T> results = new ArrayList<>();
            for (Future<T> future : runs.stream().map(workers::submit).toList()) {
                results.add(future.get());
            }
            return results;
        } catch (ExecutionException e) {
            throw new CommandFailure(ExitCode.INTERNAL, "a run of the simulation failed: " + e.getCause(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailure(ExitCode.FAILED, "interrupted", e);
        } finally {
            workers.shutdownNow();
        }
    }
}
