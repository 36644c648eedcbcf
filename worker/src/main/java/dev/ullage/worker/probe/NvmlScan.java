package dev.ullage.worker.probe;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Looks at every index at the same time, each on a thread of its own, and waits for none longer than allowed. At most
 * one look per index is outstanding, also over several scans. One scan at a time.
 */
final class NvmlScan {
    private static final int MAX_DEVICES = 1024;

    private static final String SILENT =
            "the driver does not answer when asked for this device; the look at it is left waiting";

    private final NvmlCalls calls;
    private final NvmlReader reader;
    private final NvmlHost host;
    private final Map<Integer, CompletableFuture<NvmlDevices>> outstanding = new TreeMap<>();

    NvmlScan(NvmlCalls calls, NvmlReader reader, NvmlHost host) {
        this.calls = calls;
        this.reader = reader;
        this.host = host;
    }

    /** @param before what the last scan found: it stays for an index that does not answer now */
    synchronized NvmlDevices find(int count, NvmlDevices before) {
        for (int index = 0; index < Math.min(count, MAX_DEVICES); index++) {
            outstanding.computeIfAbsent(index, this::begin);
        }
        long until = host.lookWithin().toNanos();
        List<NvmlDevices> byIndex = new ArrayList<>();
        for (int index = 0; index < Math.min(count, MAX_DEVICES); index++) {
            int at = index;
            Optional<NvmlDevices> looked = await(index, Duration.ofNanos(until));
            if (looked.isEmpty()) {
                // The others have had that time as well.
                until = 0;
            }
            byIndex.add(looked.orElseGet(() -> before.at(at, SILENT)));
        }
        if (count > MAX_DEVICES) {
            byIndex.add(new NvmlDevices(
                    List.of(),
                    List.of(new DeviceProblem(
                            MAX_DEVICES,
                            Optional.empty(),
                            false,
                            "the driver lists %d devices, only the first %d are used".formatted(count, MAX_DEVICES)))));
        }
        return NvmlDevices.of(byIndex);
    }

    private CompletableFuture<NvmlDevices> begin(int index) {
        CompletableFuture<NvmlDevices> look = new CompletableFuture<>();
        Thread thread = new Thread(() -> complete(look, index), "probe-look-" + index);
        thread.setDaemon(true);
        thread.start();
        return look;
    }

    private void complete(CompletableFuture<NvmlDevices> look, int index) {
        try {
            look.complete(NvmlSearch.look(calls, reader, host, index));
        } catch (RuntimeException | LinkageError e) {
            look.completeExceptionally(e);
        }
    }

    private Optional<NvmlDevices> await(int index, Duration within) {
        CompletableFuture<NvmlDevices> look = outstanding.getOrDefault(index, new CompletableFuture<>());
        try {
            NvmlDevices found = look.get(within.toNanos(), TimeUnit.NANOSECONDS);
            outstanding.remove(index);
            return Optional.of(found);
        } catch (TimeoutException e) {
            return Optional.empty();
        } catch (ExecutionException e) {
            outstanding.remove(index);
            throw new IllegalStateException("looking at device " + index + " failed", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}
