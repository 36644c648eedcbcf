package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceId;
import dev.ullage.worker.probe.NvmlCalls.RawEvent;
import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens for Xid errors, where the driver offers that, on a thread of its own, and remembers the newest of each card
 * until the worker ends: what a card needs after one is a reset, and that ends the worker's hold on it too.
 *
 * <p>Threads: one that waits, a daemon; {@link #problem} is for any.
 */
final class NvmlXids {
    private static final Logger LOG = LoggerFactory.getLogger(NvmlXids.class);
    private static final int WAIT_MILLIS = 500;

    /** Faults of a program, after which the card works on: page faults, preemption, ended channels. */
    private static final Set<Long> OF_PROGRAMS = Set.of(13L, 31L, 43L, 45L, 68L, 109L);

    private final NvmlCalls calls;
    private final Map<DeviceId, String> problems = new ConcurrentHashMap<>();
    private final Set<NvmlHandle> registered = Collections.synchronizedSet(new HashSet<>());
    private final Optional<NvmlHandle> set;
    private volatile Optional<Thread> thread = Optional.empty();
    private volatile boolean closed;

    NvmlXids(NvmlCalls calls) {
        this.calls = calls;
        this.set = calls.createEventSet().value();
    }

    /** Listens to these cards from now on, besides those it listens to already. */
    void listen(NvmlDevices devices) {
        if (set.isEmpty() || closed) {
            return;
        }
        boolean isFirst = registered.isEmpty();
        for (NvmlDevice device : devices.found()) {
            if (!registered.contains(device.card())
                    && calls.registerXid(device.card(), set.get()).isSuccess()) {
                registered.add(device.card());
            }
        }
        if (isFirst && !registered.isEmpty()) {
            Thread waiting = new Thread(() -> waitFor(set.get()), "probe-xid");
            waiting.setDaemon(true);
            waiting.start();
            thread = Optional.of(waiting);
        }
    }

    private void waitFor(NvmlHandle events) {
        while (!closed) {
            NvmlAnswer<RawEvent> event = calls.waitForEvent(events, WAIT_MILLIS);
            event.value().ifPresent(this::note);
            if (!event.isSuccess() && event.outcome() != NvmlReturn.TIMEOUT) {
                LOG.warn("reason=\"no longer told of Xid errors: {}\"", event.failure());
                return;
            }
        }
        calls.freeEventSet(events);
    }

    private void note(RawEvent event) {
        Optional<DeviceId> card =
                event.device().flatMap(device -> calls.uuid(device).value()).map(DeviceId::new);
        if (event.type() != NvmlLibrary.EVENT_XID || card.isEmpty()) {
            return;
        }
        if (OF_PROGRAMS.contains(event.data())) {
            LOG.warn("device={} xid={} reason=\"a program on it failed\"", card.get(), event.data());
            return;
        }
        problems.put(
                card.get(),
                "Xid %d was reported since the worker started: the card may need a reset, see dmesg"
                        .formatted(event.data()));
        LOG.warn("device={} xid={} reason=\"critical; see dmesg | grep NVRM\"", card.get(), event.data());
    }

    /** The newest critical Xid of the card that the device is, or is cut from. */
    Optional<String> problem(NvmlDevice device) {
        DeviceId card = device.info()
                .mig()
                .map(slice -> slice.parent())
                .orElse(device.info().id());
        return Optional.ofNullable(problems.get(card));
    }

    /** Waits a moment for its thread to leave the library, which is about to be shut down. */
    void close() {
        closed = true;
        try {
            if (thread.isPresent()) {
                thread.get().join(2L * WAIT_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
