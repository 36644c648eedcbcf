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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at every index at the same time, each on a thread of its own, and waits for none longer than allowed. At most
 * one look per index is outstanding, also over several scans. One scan at a time.
 */
final class NvmlScan {
    private static final Logger LOG = LoggerFactory.getLogger(NvmlScan.class);

    /** More than any host has; a driver that says so counts something else. */
    static final int MAX_DEVICES = 1024;

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

    /**
     * @param count at most {@link #MAX_DEVICES}
     * @param before what the last scan found: it stays for an index that does not answer now
     */
    synchronized NvmlDevices find(int count, NvmlDevices before) {
        for (int index = 0; index < count; index++) {
            outstanding.computeIfAbsent(index, at -> begin(at, before));
        }
        long until = host.lookWithin().toNanos();
        List<NvmlDevices> byIndex = new ArrayList<>();
        for (int index = 0; index < count; index++) {
            int at = index;
            Optional<NvmlDevices> looked = await(index, Duration.ofNanos(until));
            if (looked.isEmpty()) {
                // The others have had that time as well.
                until = 0;
            }
            byIndex.add(looked.orElseGet(() -> before.at(at, SILENT)));
        }
        return NvmlDevices.of(byIndex);
    }

    private CompletableFuture<NvmlDevices> begin(int index, NvmlDevices before) {
        CompletableFuture<NvmlDevices> look = new CompletableFuture<>();
        Thread thread = new Thread(() -> complete(look, index, before), "probe-look-" + index);
        thread.setDaemon(true);
        thread.start();
        return look;
    }

    private void complete(CompletableFuture<NvmlDevices> look, int index, NvmlDevices before) {
        try {
            look.complete(NvmlSearch.look(calls, reader, host, index, before));
        } catch (RuntimeException | LinkageError e) {
            // Nothing a driver does makes a look throw. One that does must not cost the other devices theirs.
            LOG.error("index={} reason=\"a look failed, which is a fault in Ullage; please report it\"", index, e);
            look.complete(before.at(index, "looking at it failed, which is a fault in Ullage: " + e));
        }
    }

    private Optional<NvmlDevices> await(int index, Duration within) {
        CompletableFuture<NvmlDevices> look = outstanding.getOrDefault(index, new CompletableFuture<>());
        try {
            NvmlDevices found = look.get(within.toNanos(), TimeUnit.NANOSECONDS);
            outstanding.remove(index);
            return Optional.of(found);
        } catch (TimeoutException | ExecutionException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}
