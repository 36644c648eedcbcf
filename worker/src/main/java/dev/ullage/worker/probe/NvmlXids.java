package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceId;
import dev.ullage.worker.probe.NvmlCalls.RawEvent;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens for Xid errors, where the driver offers that, and remembers the newest critical one of each card until the
 * worker ends: what a card needs after one is a reset, and that ends the worker's hold on it too.
 *
 * <p>Nobody waits for any of it: each card is registered on a thread of its own, since a lost one may hang there, and
 * another thread waits for events. All are daemons. {@link #problem} is for any thread.
 */
final class NvmlXids {
    private static final Logger LOG = LoggerFactory.getLogger(NvmlXids.class);
    private static final int WAIT_MILLIS = 500;

    /** A card may tell the same error thousands of times in a second; each is one of many in one round. */
    private static final int PAUSE_MILLIS = 10;

    /** Different errors of one card that are told apart; a driver that makes up more is not worth the memory. */
    private static final int MAX_KINDS = 256;

    /** After so many in a row the driver does not do events. */
    private static final int MAX_FAILURES = 5;

    /** Faults of a program, after which the card works on: page faults, preemption, ended channels. */
    private static final Set<Long> OF_PROGRAMS = Set.of(13L, 31L, 43L, 45L, 68L, 109L);

    private static final Set<NvmlReturn> USUAL = EnumSet.of(NvmlReturn.TIMEOUT, NvmlReturn.GPU_IS_LOST);

    private record Kind(DeviceId card, long xid) {}

    private final NvmlCalls calls;
    private final Map<DeviceId, String> problems = new ConcurrentHashMap<>();
    private final Map<NvmlHandle, DeviceId> cards = new ConcurrentHashMap<>();
    private final Set<NvmlHandle> registered = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean begun = new AtomicBoolean();
    private final AtomicBoolean waits = new AtomicBoolean();
    private final CountDownLatch closing = new CountDownLatch(1);
    private volatile Optional<NvmlHandle> set = Optional.empty();

    /** A thread for each call that may hang, and none for longer than its call. */
    private final ExecutorService threads = new ThreadPoolExecutor(
            0, Integer.MAX_VALUE, 0, TimeUnit.SECONDS, new SynchronousQueue<>(), NvmlXids::daemon);

    /** How often each was told; touched by the waiting thread only. */
    private final Map<Kind, Long> told = new ConcurrentHashMap<>();

    NvmlXids(NvmlCalls calls) {
        this.calls = calls;
    }

    /** Listens to these cards from now on, besides those it listens to already. Returns at once. */
    void listen(NvmlDevices devices) {
        if (isClosing()) {
            return;
        }
        devices.found().forEach(device -> cards.put(device.card(), cardOf(device)));
        if (begun.compareAndSet(false, true)) {
            start(this::open);
        } else {
            set.ifPresent(this::registerNew);
        }
    }

    private static DeviceId cardOf(NvmlDevice device) {
        return device.info()
                .mig()
                .map(slice -> slice.parent())
                .orElse(device.info().id());
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work, "probe-xid");
        thread.setDaemon(true);
        return thread;
    }

    private void start(Runnable work) {
        try {
            threads.execute(work);
        } catch (RejectedExecutionException e) {
            LOG.debug("not begun: the library is being closed");
        }
    }

    private void open() {
        set = calls.createEventSet().value();
        set.ifPresent(this::registerNew);
    }

    private void registerNew(NvmlHandle events) {
        for (NvmlHandle card : cards.keySet()) {
            if (registered.add(card)) {
                start(() -> register(card, events));
            }
        }
    }

    /** A card that cannot be registered now is tried again when devices are looked for again. */
    private void register(NvmlHandle card, NvmlHandle events) {
        if (isClosing() || !calls.registerXid(card, events).isSuccess()) {
            registered.remove(card);
        } else if (waits.compareAndSet(false, true)) {
            start(() -> waitFor(events));
        }
    }

    private boolean isClosing() {
        return closing.getCount() == 0;
    }

    private void waitFor(NvmlHandle events) {
        int failures = 0;
        int pause = 0;
        while (failures < MAX_FAILURES && !closesWithin(pause)) {
            NvmlAnswer<RawEvent> event = calls.waitForEvent(events, WAIT_MILLIS);
            event.value().ifPresent(this::note);
            // One lost card makes the whole set say so, and the others still tell.
            boolean isUsual = event.isSuccess() || USUAL.contains(event.outcome());
            failures = isUsual ? 0 : failures + 1;
            pause = event.isSuccess() ? PAUSE_MILLIS : event.outcome() == NvmlReturn.TIMEOUT ? 0 : WAIT_MILLIS;
            if (failures == MAX_FAILURES) {
                LOG.warn("reason=\"no longer told of Xid errors: {}\"", event.failure());
            }
        }
        calls.freeEventSet(events);
    }

    private boolean closesWithin(int millis) {
        try {
            return closing.await(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    private void note(RawEvent event) {
        Optional<DeviceId> card = event.device().flatMap(device -> Optional.ofNullable(cards.get(device)));
        if (event.type() != NvmlLibrary.EVENT_XID || card.isEmpty()) {
            return;
        }
        boolean isOfProgram = OF_PROGRAMS.contains(event.data());
        if (!isOfProgram) {
            problems.put(
                    card.get(),
                    "Xid %s was reported since the worker started: the card may need a reset, see dmesg"
                            .formatted(Long.toUnsignedString(event.data())));
        }
        tell(new Kind(card.get(), event.data()), isOfProgram);
    }

    /** The first of a kind, the second, the fourth, the eighth: a storm is told, and does not fill the disk. */
    private void tell(Kind kind, boolean isOfProgram) {
        if (told.size() >= MAX_KINDS && !told.containsKey(kind)) {
            return;
        }
        long count = told.merge(kind, 1L, Long::sum);
        if (Long.bitCount(count) == 1) {
            LOG.warn(
                    "device={} xid={} count={} reason=\"{}\"",
                    kind.card(),
                    Long.toUnsignedString(kind.xid()),
                    count,
                    isOfProgram ? "a program on it failed" : "critical; see dmesg | grep NVRM");
        }
    }

    /** The newest critical Xid of the card that the device is, or is cut from. */
    Optional<String> problem(NvmlDevice device) {
        return Optional.ofNullable(problems.get(cardOf(device)));
    }

    /** Waits a moment for its threads to leave the library, which is about to be shut down. */
    void close() {
        closing.countDown();
        threads.shutdown();
        try {
            if (!threads.awaitTermination(2L * WAIT_MILLIS, TimeUnit.MILLISECONDS)) {
                LOG.debug("a call of the driver for Xid errors has not come back");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
