package dev.ullage.worker.sampling;

import dev.ullage.common.model.DeviceId;
import dev.ullage.worker.sampling.DeviceReaders.Measurement;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * One reading of several devices. A thread takes one device after the other and passes on all answers together; where a
 * device does not answer, {@link #hurry()} lets out what there is and has another thread go on behind it.
 *
 * <p>Threads: any.
 */
final class ReadingRound {
    private final Set<DeviceId> devices;
    private final Function<DeviceId, Optional<Measurement>> measure;
    private final Consumer<DeviceId> onLate;
    private final Executor threads;
    private final Consumer<Map<DeviceId, Measurement>> onAnswers;
    private final Deque<DeviceId> waiting;
    private final Set<DeviceId> asked = new TreeSet<>();
    private final Map<DeviceId, Measurement> answers = new LinkedHashMap<>();

    /**
     * @param devices in the order in which they are read
     * @param measure makes the call that may never return
     * @param onLate told of a device that has not answered when others are waiting
     * @param threads where the calls are made behind a device that hangs
     * @param onAnswers receives answers, never none
     */
    ReadingRound(
            Collection<DeviceId> devices,
            Function<DeviceId, Optional<Measurement>> measure,
            Consumer<DeviceId> onLate,
            Executor threads,
            Consumer<Map<DeviceId, Measurement>> onAnswers) {
        this.devices = new TreeSet<>(devices);
        this.measure = measure;
        this.onLate = onLate;
        this.threads = threads;
        this.onAnswers = onAnswers;
        this.waiting = new ArrayDeque<>(devices);
    }

    /** Whether the device is read in this round, or was. */
    boolean includes(DeviceId device) {
        return devices.contains(device);
    }

    /** Whether every device has answered, or its probe has failed. */
    synchronized boolean isOver() {
        return waiting.isEmpty() && asked.isEmpty();
    }

    /** Reads, on this thread. */
    void run() {
        for (Optional<DeviceId> next = next(); next.isPresent(); next = next()) {
            DeviceId device = next.get();
            Optional<Measurement> answer = measure.apply(device);
            answered(device, answer);
        }
        passOn();
    }

    private synchronized Optional<DeviceId> next() {
        Optional<DeviceId> device = Optional.ofNullable(waiting.poll());
        device.ifPresent(asked::add);
        return device;
    }

    private synchronized void answered(DeviceId device, Optional<Measurement> answer) {
        asked.remove(device);
        answer.ifPresent(measured -> answers.put(device, measured));
    }

    /**
     * What has been answered goes out now. Those that nobody has come to yet no longer wait for those that hang;
     * returns whether there are such, so that it is worth looking again soon: the next of them may hang as well, or the
     * machine is so busy that the round has not begun.
     */
    boolean hurry() {
        List<DeviceId> late;
        boolean areWaiting;
        synchronized (this) {
            late = new ArrayList<>(asked);
            areWaiting = !waiting.isEmpty();
        }
        late.forEach(onLate);
        if (areWaiting && !late.isEmpty()) {
            threads.execute(this::run);
        }
        passOn();
        return areWaiting;
    }

    private void passOn() {
        Map<DeviceId, Measurement> taken;
        synchronized (this) {
            taken = new LinkedHashMap<>(answers);
            answers.clear();
        }
        if (!taken.isEmpty()) {
            onAnswers.accept(taken);
        }
    }
}
