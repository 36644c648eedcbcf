package dev.ullage.worker.sampling;

import dev.ullage.common.model.DeviceId;
import dev.ullage.worker.sampling.DeviceReaders.Measurement;
import java.time.Duration;
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

/**
 * One reading of several devices, or several of which only the last is news. A thread takes one device after the other
 * and passes on all answers together; where a device does not answer, {@link #hurry} lets out what there is and has
 * another thread go on behind it.
 *
 * <p>Threads: any.
 */
final class ReadingRound implements ReadingPace.Round {
    /** Who makes the calls. */
    interface Caller extends Executor {
        /** Makes the call, which may never return; empty where the probe failed. */
        Optional<Measurement> measure(DeviceId device);

        /** A device has not answered when others are waiting. */
        void late(DeviceId device);

        /** Whether all this is known, so that it can wait, and all the devices may be read again. */
        boolean isAgain(Map<DeviceId, Measurement> answers);

        /** The time, by a clock that is never set back. */
        long millis();
    }

    /**
     * What a device answered.
     *
     * @param age zero if that was just now; more of an answer that was held back because it was no news
     */
    record Answer(Measurement measurement, Duration age) {}

    private final Set<DeviceId> devices;
    private final Caller caller;
    private final Consumer<Map<DeviceId, Answer>> onAnswers;
    private final Deque<DeviceId> waiting;
    private final Set<DeviceId> asked = new TreeSet<>();
    private final Map<DeviceId, Measurement> answers = new LinkedHashMap<>();
    /** Those of the beat before, which nobody was told. */
    private final Map<DeviceId, Measurement> untold = new LinkedHashMap<>();

    private Optional<Long> firstBeat = Optional.empty();
    private long newestBeat;
    private long untoldBeat;
    private boolean isHurried;
    /** While it is not decided whether there is another beat. */
    private boolean isDeciding;

    /**
     * @param devices in the order in which they are read
     * @param onAnswers receives answers, never none
     */
    ReadingRound(Collection<DeviceId> devices, Caller caller, Consumer<Map<DeviceId, Answer>> onAnswers) {
        this.devices = new TreeSet<>(devices);
        this.caller = caller;
        this.onAnswers = onAnswers;
        this.waiting = new ArrayDeque<>(devices);
    }

    /** Whether the device is read in this round, or was. */
    boolean includes(DeviceId device) {
        return devices.contains(device);
    }

    /** Whether every device has answered, or its probe has failed, for the last time. */
    synchronized boolean isOver() {
        return areAllRead() && !isDeciding;
    }

    private boolean areAllRead() {
        return waiting.isEmpty() && asked.isEmpty();
    }

    /** How much later the devices were last asked than for the first time. */
    synchronized Duration repeatedFor() {
        return Duration.ofMillis(newestBeat - firstBeat.orElse(newestBeat));
    }

    /** Reads, on this thread; to be run again while nothing is new. */
    @Override
    public boolean run() {
        begin();
        readOn();
        if (isAgain()) {
            return true;
        }
        passOn();
        return false;
    }

    private synchronized void begin() {
        newestBeat = caller.millis();
        firstBeat = firstBeat.or(() -> Optional.of(newestBeat));
        isDeciding = true;
    }

    private void readOn() {
        for (Optional<DeviceId> next = next(); next.isPresent(); next = next()) {
            DeviceId device = next.get();
            Optional<Measurement> answer = caller.measure(device);
            answered(device, answer);
        }
    }

    /** Reads what nobody has come to yet, on this thread, and not again. */
    void runOnce() {
        readOn();
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

    private synchronized boolean isAgain() {
        isDeciding = false;
        if (isHurried || !areAllRead() || answers.size() < devices.size() || !caller.isAgain(answers)) {
            return false;
        }
        untold.clear();
        untold.putAll(answers);
        untoldBeat = newestBeat;
        waiting.addAll(answers.keySet());
        answers.clear();
        return true;
    }

    /**
     * What has been answered goes out now, and those that nobody has come to yet no longer wait for those that hang;
     * unless the devices have only just been asked.
     *
     * @param lateAfter how long they may take
     * @return whether it is worth looking again soon: there are devices that nobody has come to, and the next of them
     *     may hang as well, or the machine is so busy that the round has not begun, or nothing is late
     */
    boolean hurry(Duration lateAfter) {
        List<DeviceId> late;
        boolean areWaiting;
        synchronized (this) {
            boolean isBetweenBeats = asked.isEmpty() && !untold.isEmpty() && !waiting.isEmpty();
            boolean isYoung = firstBeat.isPresent() && caller.millis() - newestBeat < lateAfter.toMillis();
            if (isBetweenBeats || (isYoung && !isOver())) {
                return true;
            }
            isHurried = true;
            late = new ArrayList<>(asked);
            areWaiting = !waiting.isEmpty();
        }
        late.forEach(caller::late);
        if (areWaiting && !late.isEmpty()) {
            caller.execute(this::runOnce);
        }
        passOn();
        return areWaiting;
    }

    private void passOn() {
        Map<DeviceId, Answer> held = new LinkedHashMap<>();
        Map<DeviceId, Answer> taken = new LinkedHashMap<>();
        synchronized (this) {
            Duration age = Duration.ofMillis(Math.max(1, caller.millis() - untoldBeat));
            untold.forEach((device, answer) -> {
                if (isLastWord(device)) {
                    held.put(device, new Answer(answer, age));
                }
            });
            untold.keySet().removeAll(held.keySet());
            answers.forEach((device, answer) -> taken.put(device, new Answer(answer, Duration.ZERO)));
            answers.clear();
        }
        for (Map<DeviceId, Answer> told : List.of(held, taken)) {
            if (!told.isEmpty()) {
                onAnswers.accept(told);
            }
        }
    }

    /**
     * Of one that hangs or fails, what it said before may be that for long; one that nobody has come to is read soon.
     */
    private boolean isLastWord(DeviceId device) {
        Measurement now = answers.get(device);
        return asked.contains(device) || (now != null && !now.isUsable());
    }
}
