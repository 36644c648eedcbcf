package dev.ullage.common.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;

/**
 * Runs many seeds on all cores. Each run is on one thread and shares nothing, so the result does not depend on how
 * many.
 */
public final class Seeds {
    private Seeds() {}

    /** The results in the order of the seeds {@code first} to {@code first + count - 1}. */
    public static <R> List<R> run(long first, int count, LongFunction<R> run) {
        int threads = Runtime.getRuntime().availableProcessors();
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            AtomicLong next = new AtomicLong();
            List<Future<List<Numbered<R>>>> parts = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                parts.add(executor.submit(() -> part(first, count, next, run)));
            }
            List<Numbered<R>> all = new ArrayList<>();
            for (Future<List<Numbered<R>>> part : parts) {
                all.addAll(part.get());
            }
            all.sort((a, b) -> Long.compare(a.seed(), b.seed()));
            return all.stream().map(Numbered::result).toList();
        } catch (ExecutionException e) {
            throw new IllegalStateException("a run ended in an error", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        } finally {
            executor.shutdownNow();
        }
    }

    private record Numbered<R>(long seed, R result) {}

    private static <R> List<Numbered<R>> part(long first, int count, AtomicLong next, LongFunction<R> run) {
        List<Numbered<R>> results = new ArrayList<>();
        for (long i = next.getAndIncrement(); i < count; i = next.getAndIncrement()) {
            results.add(new Numbered<>(first + i, run.apply(first + i)));
        }
        return results;
    }
}
