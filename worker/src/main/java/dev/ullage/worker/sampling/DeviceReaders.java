package dev.ullage.worker.sampling;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.worker.probe.GpuProbe;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Makes the calls into a driver that may never return. At most one call per device is outstanding, however often a
 * reading is asked for: a driver that hangs costs one thread per device and no more. A call that comes back late is an
 * answer like any other.
 *
 * <p>Two threads read all devices, one after the other, because waking a thread costs more than a reading. So that no
 * device holds up another, there is always one thread more than devices that had not answered when they were asked
 * again. Only where two hang for the first time in the same round do the others wait, for that round.
 *
 * <p>Threads: any. They are daemons: a call stuck in the kernel cannot be ended and must not keep the process alive.
 */
public final class DeviceReaders implements AutoCloseable {
    private static final Duration CLOSE_WITHIN = Duration.ofSeconds(2);
    private static final Duration ORDER_WITHIN = Duration.ofSeconds(10);
    private static final int CALM_THREADS = 2;

    private final GpuProbe probe;
    private final Path proc;
    private final Duration interval;
    private final ThreadPoolExecutor threads = SingleCall.threads("probe-reader", CALM_THREADS, Duration.ZERO);
    private final Set<DeviceId> late = new TreeSet<>();
    private final Map<DeviceId, Reader> readers = new ConcurrentHashMap<>();
    private final SingleCall scan = new SingleCall("probe-scan");
    private final SingleCall order = new SingleCall("probe-order");
    private final CompletableFuture<Optional<List<DeviceId>>> numbered = new CompletableFuture<>();

    /**
     * @param proc where processes are looked up
     * @param interval between two readings of a device, about
     */
    public DeviceReaders(GpuProbe probe, Path proc, Duration interval) {
        this.probe = probe;
        this.proc = proc;
        this.interval = interval;
    }

    /** A reading, and where each process in it comes from, looked up right after it. */
    record Measurement(DeviceReading reading, List<Ancestry> ancestries) {}

    /** Starts to read the device; false, and nothing is started, while an earlier call for it is outstanding. */
    boolean begin(DeviceId device, Consumer<Measurement> onAnswer) {
        Reader reader = readers.computeIfAbsent(device, this::newReader);
        boolean begun = reader.call().begin(() -> measure(device, reader.ancestries()), onAnswer);
        if (!begun) {
            isLate(device, true);
        }
        return begun;
    }

    /** So many threads are stuck, or may be: one more than that is needed. */
    private synchronized void isLate(DeviceId device, boolean is) {
        boolean changed = is ? late.add(device) : late.remove(device);
        if (changed) {
            threads.setCorePoolSize(Math.max(CALM_THREADS, late.size() + 1));
        }
    }

    /** What is kept for one device; the cache is touched within its call only, so by one thread at a time. */
    private record Reader(SingleCall call, AncestryCache ancestries) {}

    private Reader newReader(DeviceId device) {
        return new Reader(
                new SingleCall("probe-" + device, threads),
                AncestryCache.every(interval, pid -> ProcStatus.read(proc, pid)));
    }

    private Measurement measure(DeviceId device, AncestryCache ancestries) {
        try {
            DeviceReading reading = probe.read(device);
            return new Measurement(reading, ancestries.of(reading));
        } finally {
            isLate(device, false);
        }
    }

    /** Starts to look for devices; false while an earlier look is outstanding. */
    boolean beginScan(Consumer<List<DeviceInfo>> onFound) {
        return scan.begin(probe::rescan, onFound);
    }

    /** The reading, or an empty one that says so when the driver has not answered in time. For the start only. */
    public DeviceReading readWithin(DeviceId device, Duration deadline) {
        CompletableFuture<DeviceReading> answer = new CompletableFuture<>();
        if (!begin(device, measured -> answer.complete(measured.reading()))) {
            return silent("an earlier call for this device has not come back");
        }
        try {
            return answer.get(deadline.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            return silent("the driver has not answered within " + deadline.toMillis() + " ms");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return silent("interrupted while waiting for the driver");
        }
    }

    /**
     * The order in which CUDA numbers the devices, asked once; empty when it cannot be told, also for now when CUDA
     * takes longer than a rank is to wait.
     */
    public Optional<List<DeviceId>> fastestFirst() {
        order.begin(probe::fastestFirst, numbered::complete);
        try {
            return numbered.get(ORDER_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    private static DeviceReading silent(String problem) {
        return new DeviceReading(Optional.empty(), Optional.empty(), List.of(problem + "; memory is unknown"));
    }

    /** Lets go of the driver, waiting for it only for a moment: a device that hangs may hold that up too. */
    public static void letGo(GpuProbe probe) {
        CompletableFuture<Boolean> closed = new CompletableFuture<>();
        SingleCall call = new SingleCall("probe-close");
        Supplier<Boolean> close = () -> {
            probe.close();
            return true;
        };
        call.begin(close, closed::complete);
        try {
            closed.get(CLOSE_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            // It hangs; its thread is a daemon and ends with the process.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        call.end();
    }

    /** Lets go of the driver too. */
    @Override
    public void close() {
        letGo(probe);
        scan.end();
        order.end();
        threads.shutdownNow();
    }
}
