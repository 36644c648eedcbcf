package dev.ullage.worker.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.worker.sampling.DeviceReaders.Measurement;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** A round of readings on threads that run when the test says so; a device that hangs has the others read inside it. */
class ReadingRoundTest {
    private static final Measurement ANSWER =
            new Measurement(new DeviceReading(Optional.empty(), Optional.empty(), List.of()), List.of());

    private final Deque<Runnable> threads = new ArrayDeque<>();
    private final List<Set<DeviceId>> passedOn = new ArrayList<>();
    private final List<DeviceId> late = new ArrayList<>();
    private final List<DeviceId> asked = new ArrayList<>();
    private Runnable whileAsking = () -> {};

    private static DeviceId device(int number) {
        return new DeviceId("GPU-" + number);
    }

    private static List<DeviceId> devices(int... numbers) {
        List<DeviceId> devices = new ArrayList<>();
        for (int number : numbers) {
            devices.add(device(number));
        }
        return devices;
    }

    private ReadingRound round(int... numbers) {
        ReadingRound round = new ReadingRound(
                devices(numbers),
                this::ask,
                late::add,
                threads::add,
                answers -> passedOn.add(new TreeSet<>(answers.keySet())));
        if (!round.isOver()) {
            threads.add(round::run);
        }
        return round;
    }

    private Optional<Measurement> ask(DeviceId device) {
        asked.add(device);
        Runnable meanwhile = whileAsking;
        whileAsking = () -> {};
        meanwhile.run();
        return Optional.of(ANSWER);
    }

    private void runThreads() {
        while (!threads.isEmpty()) {
            threads.remove().run();
        }
    }

    @Test
    void oneThreadReadsAllAndPassesThemOnTogether() {
        ReadingRound round = round(1, 2, 3);
        assertThat(threads).hasSize(1);

        runThreads();

        assertThat(passedOn).containsExactly(new TreeSet<>(devices(1, 2, 3)));
        assertThat(round.isOver()).isTrue();
        assertThat(round.hurry()).isFalse();
        assertThat(passedOn).hasSize(1);
        assertThat(late).isEmpty();
    }

    @Test
    void behindADeviceThatHangsAnotherThreadGoesOnAndWhatAnsweredGoesOut() {
        ReadingRound round = round(1, 2, 3, 4);
        whileAsking = () -> whileAsking = () -> {
            // The second device hangs from here on.
            assertThat(round.hurry()).isTrue();
            assertThat(passedOn).containsExactly(new TreeSet<>(devices(1)));
            runThreads();
            assertThat(passedOn).containsExactly(new TreeSet<>(devices(1)), new TreeSet<>(devices(3, 4)));
            assertThat(round.isOver()).isFalse();
            assertThat(round.hurry()).isFalse();
        };

        runThreads();

        assertThat(late).containsOnly(device(2));
        assertThat(asked).containsExactlyElementsOf(devices(1, 2, 3, 4));
        assertThat(passedOn).hasSize(3).last().isEqualTo(new TreeSet<>(devices(2)));
        assertThat(round.isOver()).isTrue();
    }

    @Test
    void whatNobodyAnsweredIsNotPassedOn() {
        ReadingRound none = round();
        assertThat(threads).isEmpty();
        assertThat(none.isOver()).isTrue();

        ReadingRound round = round(1);
        assertThat(round.hurry()).isTrue();
        assertThat(threads).hasSize(1);
        assertThat(late).isEmpty();
        assertThat(passedOn).isEmpty();
        assertThat(round.includes(device(1))).isTrue();
        assertThat(round.includes(device(2))).isFalse();
    }

    @Test
    void aProbeThatFailedHoldsUpNobody() {
        ReadingRound round = new ReadingRound(
                devices(1, 2),
                device -> Optional.of(ANSWER).filter(answer -> device.equals(device(2))),
                late::add,
                threads::add,
                answers -> passedOn.add(new TreeSet<>(answers.keySet())));
        threads.add(round::run);

        runThreads();

        assertThat(passedOn).containsExactly(new TreeSet<>(devices(2)));
        assertThat(round.isOver()).isTrue();
    }
}
