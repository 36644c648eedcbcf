package dev.ullage.worker.sampling;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.worker.probe.GpuProbe;
import dev.ullage.worker.sampling.ReadingRound.Answer;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the calls into a driver that may never return. At most one call per device is outstanding, however often a
 * reading is asked for: a driver that hangs costs one thread per device and no more. A call that comes back late is an
 * answer like any other.
 *
 * <p>One thread reads all devices, one after the other, and passes on what they answered at once, because waking a
 * thread costs more than a reading; and only what is {@link RoundNews news}. When it is told to
 * {@link ReadingRound#hurry}, another one takes over from where it is: there is always one thread more than devices
 * that have been waited for too long.
 *
 * <p>Threads: any. They are daemons: a call stuck in the kernel cannot be ended and must not keep the process alive.
 */
public final class DeviceReaders implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DeviceReaders.class);
    private static final Duration CLOSE_WITHIN = Duration.ofSeconds(2);
    private static final Duration ORDER_WITHIN = Duration.ofSeconds(10);
    private static final int CALM_THREADS = 1;

    private final GpuProbe probe;
    private final Path proc;
    private final Duration interval;
    private final Clock clock;
    /** Once they are shut down, nothing that they are given is run, and nobody is told. */
    private final ScheduledThreadPoolExecutor threads = new ScheduledThreadPoolExecutor(
            CALM_THREADS, SingleCall.daemons("probe-reader"), new ThreadPoolExecutor.DiscardPolicy());

    private final ReadingPace pace;
    private final RoundNews news;
    private final ReadingRound.Caller caller = new Caller();
    private final Set<DeviceId> late = new TreeSet<>();
    private final Map<DeviceId, Reader> readers = new ConcurrentHashMap<>();
    private final SingleCall scan = new SingleCall("probe-scan");
    private final SingleCall order = new SingleCall("probe-order");
    private final CompletableFuture<Optional<List<DeviceId>>> numbered = new CompletableFuture<>();

    /**
     * @param proc where processes are looked up
     * @param interval between two readings of a device, about
     * @param clock one that is never set back
     */
    public DeviceReaders(GpuProbe probe, Path proc, Duration interval, Clock clock) {
        this.probe = probe;
        this.proc = proc;
        this.interval = interval;
        this.clock = clock;
        this.pace = new ReadingPace(this::runAfter, interval, clock);
        this.news = new RoundNews(interval);
    }

    private void runAfter(Duration delay, Runnable beat) {
        var unused = threads.schedule(beat, delay.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** A reading, and where each process in it comes from, looked up right after it. */
    record Measurement(DeviceReading reading, List<Ancestry> ancestries) {
        /** Whether anything is known of the device by it. */
        boolean isUsable() {
            return reading.memory().isPresent() || reading.processes().isPresent();
        }
    }

    /** What is kept for one device; the cache is touched within its call only, so by one thread at a time. */
    private record Reader(AtomicBoolean busy, AncestryCache ancestries) {}

    /** What {@link ReadingRound}s are made with. */
    private final class Caller implements ReadingRound.Caller {
        @Override
        public Optional<Measurement> measure(DeviceId device) {
            return DeviceReaders.this.measure(device);
        }

        @Override
        public void late(DeviceId device) {
            isLate(device, true);
        }

        @Override
        public boolean isAgain(Map<DeviceId, Measurement> answers) {
            // While a device is waited for, each round is one more that it has missed.
            boolean isMeasured = answers.entrySet().stream()
                    .allMatch(answer -> answer.getValue().isUsable()
                            || retired(answer.getKey()).isPresent());
            return !news.isNews(answers, isMeasured, millis())
                    && !isAnyLate()
                    && !threads.isShutdown()
                    && areTaken(answers.keySet());
        }

        @Override
        public long millis() {
            return clock.millis();
        }

        @Override
        public void execute(Runnable task) {
            threads.execute(task);
        }
    }

    /**
     * Has the devices read in this order at the next beat of the interval, without those for which an earlier call is
     * outstanding; and at each further beat until there is news.
     *
     * @param onAnswers receives what was read, never nothing, on the thread that read it: once when all have answered,
     *     and before that whenever the round is told to hurry
     */
    ReadingRound prepare(Collection<DeviceId> devices, Consumer<Map<DeviceId, Answer>> onAnswers) {
        ReadingRound round = round(devices, onAnswers);
        if (!round.isOver()) {
            pace.prepare(round);
        }
        return round;
    }

    /** For whoever wants readings to be passed on though they may say nothing new. */
    public Attention attention() {
        return news;
    }

    /** How long it is until the next beat. */
    Duration untilNext() {
        return pace.untilNext();
    }

    private ReadingRound round(Collection<DeviceId> devices, Consumer<Map<DeviceId, Answer>> onAnswers) {
        List<DeviceId> begun = new ArrayList<>(devices.size());
        for (DeviceId device : threads.isShutdown() ? List.<DeviceId>of() : devices) {
            if (reader(device).busy().compareAndSet(false, true)) {
                begun.add(device);
            } else {
                isLate(device, true);
            }
        }
        return new ReadingRound(begun, caller, onAnswers);
    }

    /** All of the devices or none; somebody else may have begun a call for one of them. */
    private boolean areTaken(Collection<DeviceId> devices) {
        List<Reader> taken = new ArrayList<>(devices.size());
        for (DeviceId device : devices) {
            Reader reader = reader(device);
            if (!reader.busy().compareAndSet(false, true)) {
                taken.forEach(other -> other.busy().set(false));
                return false;
            }
            taken.add(reader);
        }
        return true;
    }

    /** So many threads are stuck, or may be: one more than that is needed, and that one keeps the time. */
    private synchronized void isLate(DeviceId device, boolean is) {
        boolean changed = is ? late.add(device) : late.remove(device);
        if (!changed) {
            return;
        }
        threads.setCorePoolSize(CALM_THREADS + late.size());
        // What is let out without the others is compared with nothing, and the next round has other devices.
        news.next();
        if (is) {
            pace.restart();
        }
    }

    private synchronized boolean isAnyLate() {
        return !late.isEmpty();
    }

    private Reader reader(DeviceId device) {
        Reader known = readers.get(device);
        if (known != null) {
            return known;
        }
        return readers.computeIfAbsent(
                device,
                key -> new Reader(
                        new AtomicBoolean(), AncestryCache.every(interval, pid -> ProcStatus.read(proc, pid))));
    }

    /** Empty where the probe failed; then, too, the device may be asked again. */
    private Optional<Measurement> measure(DeviceId device) {
        Reader reader = reader(device);
        try {
            DeviceReading reading = probe.read(device);
            return Optional.of(new Measurement(reading, reader.ancestries().of(reading)));
        } catch (RuntimeException | LinkageError e) {
            // Nothing a driver does makes a probe throw, so this is a fault in Ullage: loud, and not the end.
            LOG.error("device={} reason=\"a probe failed, which is a fault in Ullage; please report it\"", device, e);
            return Optional.empty();
        } finally {
            reader.busy().set(false);
            isLate(device, false);
        }
    }

    /**
     * Starts to look for devices; false while an earlier look is outstanding.
     *
     * @param onFound called on the thread that looked, which is the same or a later one each time; it may take its time
     * @param onDone called after that
     */
    boolean beginScan(Consumer<List<DeviceInfo>> onFound, Consumer<List<DeviceInfo>> onDone) {
        Supplier<List<DeviceInfo>> look = () -> {
            List<DeviceInfo> devices = probe.rescan();
            onFound.accept(devices);
            return devices;
        };
        return scan.begin(look, onDone);
    }

    /** Why the device can hold nothing any more ({@link GpuProbe#retired}); asks no driver. */
    public Optional<String> retired(DeviceId device) {
        return probe.retired(device);
    }

    /** The reading, or an empty one that says so when the driver has not answered in time. For a device that is new. */
    public DeviceReading readWithin(DeviceId device, Duration deadline) {
        CompletableFuture<DeviceReading> answer = new CompletableFuture<>();
        ReadingRound round = round(List.of(device), answers -> answers.values()
                .forEach(told -> answer.complete(told.measurement().reading())));
        if (!round.includes(device)) {
            return silent("an earlier call for this device has not come back");
        }
        threads.execute(round::runOnce);
        try {
            return answer.get(deadline.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            var unused = round.hurry(Duration.ZERO);
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
