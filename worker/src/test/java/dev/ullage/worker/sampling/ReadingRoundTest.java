package dev.ullage.worker.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.testing.TestClock;
import dev.ullage.worker.sampling.DeviceReaders.Measurement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** A round of readings on threads that run when the test says so; a device that hangs has the others read inside it. */
class ReadingRoundTest {
    private static final Measurement ANSWER =
            new Measurement(new DeviceReading(Optional.empty(), Optional.of(List.of()), List.of()), List.of());
    private static final Measurement UNKNOWN =
            new Measurement(new DeviceReading(Optional.empty(), Optional.empty(), List.of("it fails")), List.of());

    private static final Duration LATE_AFTER = Duration.ofMillis(200);

    private final Deque<Runnable> threads = new ArrayDeque<>();
    private final List<Set<DeviceId>> passedOn = new ArrayList<>();
    private final List<DeviceId> late = new ArrayList<>();
    private final List<DeviceId> asked = new ArrayList<>();
    private final List<String> told = new ArrayList<>();
    private final TestClock clock = new TestClock();
    private Runnable whileAsking = () -> {};
    private DeviceId failing = device(0);
    private DeviceId unknown = device(0);
    private int quietRounds;

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

    /** Who makes the calls, by the test's clock. */
    private final ReadingRound.Caller caller = new ReadingRound.Caller() {
        @Override
        public Optional<Measurement> measure(DeviceId device) {
            return ask(device);
        }

        @Override
        public void late(DeviceId device) {
            late.add(device);
        }

        @Override
        public boolean isAgain(Map<DeviceId, Measurement> answers) {
            return quietRounds-- > 0;
        }

        @Override
        public long millis() {
            return clock.millis();
        }

        @Override
        public void execute(Runnable task) {
            threads.add(task);
        }
    };

    private ReadingRound round(int... numbers) {
        ReadingRound round = new ReadingRound(devices(numbers), caller, answers -> {
            passedOn.add(new TreeSet<>(answers.keySet()));
            answers.forEach((device, answer) -> told.add(device + " "
                    + answer.age().toMillis() + (answer.measurement().isUsable() ? "" : " unknown")));
        });
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
        if (device.equals(failing)) {
            return Optional.empty();
        }
        return Optional.of(device.equals(unknown) ? UNKNOWN : ANSWER);
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
        assertThat(round.hurry(LATE_AFTER)).isFalse();
        assertThat(passedOn).hasSize(1);
        assertThat(late).isEmpty();
    }

    @Test
    void behindADeviceThatHangsAnotherThreadGoesOnAndWhatAnsweredGoesOut() {
        ReadingRound round = round(1, 2, 3, 4);
        whileAsking = () -> whileAsking = () -> {
            // The second device hangs from here on.
            clock.advance(LATE_AFTER);
            assertThat(round.hurry(LATE_AFTER)).isTrue();
            assertThat(passedOn).containsExactly(new TreeSet<>(devices(1)));
            runThreads();
            assertThat(passedOn).containsExactly(new TreeSet<>(devices(1)), new TreeSet<>(devices(3, 4)));
            assertThat(round.isOver()).isFalse();
            assertThat(round.hurry(LATE_AFTER)).isFalse();
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
        assertThat(round.hurry(LATE_AFTER)).isTrue();
        assertThat(threads).hasSize(1);
        assertThat(late).isEmpty();
        assertThat(passedOn).isEmpty();
        assertThat(round.includes(device(1))).isTrue();
        assertThat(round.includes(device(2))).isFalse();
    }

    @Test
    void aProbeThatFailedHoldsUpNobody() {
        failing = device(1);
        quietRounds = 1;
        ReadingRound round = round(1, 2);

        runThreads();

        assertThat(passedOn).containsExactly(new TreeSet<>(devices(2)));
        assertThat(round.isOver()).isTrue();
    }

    @Test
    void whatIsNothingNewIsReadAgainAtTheNextBeatAndNobodyIsTold() {
        quietRounds = 2;
        ReadingRound round = round(1, 2);
        for (int beat = 0; beat < 2; beat++) {
            assertThat(round.run()).isTrue();
            assertThat(round.isOver()).isFalse();
            clock.advance(Duration.ofSeconds(1));
            assertThat(round.hurry(LATE_AFTER)).isTrue();
        }
        assertThat(passedOn).isEmpty();

        assertThat(round.run()).isFalse();

        assertThat(asked).containsExactlyElementsOf(devices(1, 2, 1, 2, 1, 2));
        assertThat(passedOn).containsExactly(new TreeSet<>(devices(1, 2)));
        assertThat(told).containsExactly("GPU-1 0", "GPU-2 0");
        assertThat(round.isOver()).isTrue();
        assertThat(round.repeatedFor()).isEqualTo(Duration.ofSeconds(2));
        assertThat(late).isEmpty();
        assertThat(threads).hasSize(1);
    }

    @Test
    void oneThatHangsAfterQuietBeatsIsKnownAsOfTheLastOfThem() {
        quietRounds = 5;
        ReadingRound round = round(1, 2, 3);
        threads.clear();
        round.run();
        clock.advance(Duration.ofMillis(100));
        round.run();
        clock.advance(Duration.ofMillis(100));
        whileAsking = () -> whileAsking = () -> {
            // The second device hangs from here on.
            clock.advance(LATE_AFTER);
            assertThat(round.hurry(LATE_AFTER)).isTrue();
            // As old as the beat before, and the time that it has been waited for.
            assertThat(told).containsExactly("GPU-2 300", "GPU-1 0");
            runThreads();
            assertThat(told).last().isEqualTo("GPU-3 0");
        };

        assertThat(round.run()).isFalse();

        assertThat(late).containsExactly(device(2));
        assertThat(round.repeatedFor()).isEqualTo(Duration.ofMillis(200));
        assertThat(told).hasSize(4).last().isEqualTo("GPU-2 0");
        assertThat(round.isOver()).isTrue();
    }

    @Test
    void oneThatFailsAfterQuietBeatsIsKnownAsOfTheLastOfThem() {
        quietRounds = 1;
        ReadingRound round = round(1, 2);
        round.run();
        clock.advance(Duration.ofMillis(100));
        unknown = device(2);

        assertThat(round.run()).isFalse();

        assertThat(told).containsExactly("GPU-2 100", "GPU-1 0", "GPU-2 0 unknown");
    }

    @Test
    void whatIsReadOnceIsNotReadAgainAndNobodyIsAskedWhetherItIsNews() {
        quietRounds = 5;
        ReadingRound round = round(1);

        round.runOnce();

        assertThat(told).containsExactly("GPU-1 0");
        assertThat(round.isOver()).isTrue();
        assertThat(quietRounds).isEqualTo(5);
    }

    @Test
    void aBeatThatHasOnlyBegunIsNotLate() {
        ReadingRound round = round(1, 2);
        whileAsking = () -> {
            clock.advance(LATE_AFTER.minusMillis(1));
            assertThat(round.hurry(LATE_AFTER)).isTrue();
            assertThat(late).isEmpty();
            assertThat(threads).isEmpty();
        };

        runThreads();

        assertThat(passedOn).containsExactly(new TreeSet<>(devices(1, 2)));
    }
}
