package dev.ullage.worker.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.testing.TestClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Rounds at a steady beat, on threads and by a clock that are the test's. */
class ReadingPaceTest {
    private static final Duration INTERVAL = Duration.ofMillis(100);

    private record Waiting(long at, Runnable beat) {}

    private final List<Waiting> threads = new ArrayList<>();
    private final List<String> begun = new ArrayList<>();
    private final TestClock clock = new TestClock(Instant.ofEpochMilli(-50));

    private final ReadingPace pace = new ReadingPace(
            (delay, beat) -> threads.add(new Waiting(clock.millis() + delay.toMillis(), beat)), INTERVAL, clock);

    private void prepare(String name) {
        pace.prepare(() -> {
            begun.add(name + " at " + clock.millis());
            return false;
        });
    }

    private void timeIs(long now) {
        clock.advance(Duration.ofMillis(now - clock.millis()));
        List<Waiting> due = threads.stream().filter(one -> one.at() <= now).toList();
        threads.removeAll(due);
        due.forEach(one -> one.beat().run());
    }

    @Test
    void theFirstIsAtOnceAndEachFurtherOneAnIntervalLaterHoweverLongItTook() {
        timeIs(0);
        assertThat(threads).isEmpty();

        pace.prepare(() -> {
            clock.advance(Duration.ofMillis(30));
            begun.add("first");
            return false;
        });
        timeIs(0);
        assertThat(pace.untilNext()).isEqualTo(Duration.ofMillis(70));
        prepare("second");
        timeIs(99);
        timeIs(100);
        prepare("third");
        timeIs(200);

        assertThat(begun).containsExactly("first", "second at 100", "third at 200");
    }

    @Test
    void beatsWithNothingPreparedPass() {
        prepare("first");
        timeIs(-50);
        timeIs(50);
        timeIs(150);
        prepare("second");
        timeIs(249);
        timeIs(250);

        assertThat(begun).containsExactly("first at -50", "second at 250");
    }

    @Test
    void whatAStandstillMissedIsNotMadeUpFor() {
        prepare("first");
        timeIs(-50);
        prepare("second");

        timeIs(3_600_020);
        prepare("third");

        assertThat(pace.untilNext()).isEqualTo(Duration.ofMillis(30));
        timeIs(3_600_049);
        assertThat(begun).containsExactly("first at -50", "second at 3600020");
        timeIs(3_600_050);
        assertThat(begun).last().isEqualTo("third at 3600050");
    }

    @Test
    void aThreadThatIsStuckIsReplacedAndKeepsNoTimeWhenItComesBack() {
        pace.restart();
        assertThat(threads).isEmpty();

        pace.prepare(() -> {
            // It hangs here; meanwhile:
            pace.restart();
            prepare("second");
            timeIs(50);
            prepare("third");
            timeIs(150);
            return false;
        });
        timeIs(-50);

        assertThat(begun).containsExactly("second at 50", "third at 150");
        assertThat(threads).singleElement().extracting(Waiting::at).isEqualTo(250L);
    }

    @Test
    void aBeatThatWaitsWhileAnotherThreadTakesOverDoesNothing() {
        prepare("first");
        timeIs(-50);
        pace.restart();
        prepare("second");
        assertThat(threads).hasSize(2);

        timeIs(50);

        assertThat(begun).containsExactly("first at -50", "second at 50");
        assertThat(threads).hasSize(1);
    }

    @Test
    void aRoundThatSaysSoIsBegunAtTheNextBeatAgainBeforeAnyOther() {
        pace.prepare(() -> {
            begun.add("first at " + clock.millis());
            return begun.size() < 3;
        });
        timeIs(-50);
        timeIs(50);
        prepare("second");
        timeIs(150);
        timeIs(250);
        timeIs(350);

        assertThat(begun).containsExactly("first at -50", "first at 50", "first at 150", "second at 250");
    }

    @Test
    void aRoundThatIsToBeRunAgainIsSoOnTheThreadThatTookOver() {
        pace.prepare(() -> {
            begun.add("first at " + clock.millis());
            if (begun.size() == 1) {
                pace.restart();
            }
            return begun.size() < 3;
        });
        timeIs(-50);
        timeIs(50);
        timeIs(150);
        timeIs(250);

        assertThat(begun).containsExactly("first at -50", "first at 50", "first at 150");
        assertThat(threads).hasSize(1);
    }

    @Test
    void aRoundThatFailsStopsNoBeat() {
        pace.prepare(() -> {
            throw new IllegalStateException("a fault");
        });
        try {
            timeIs(-50);
        } catch (IllegalStateException e) {
            begun.add(e.getMessage());
        }
        prepare("second");
        timeIs(50);

        assertThat(begun).containsExactly("a fault", "second at 50");
    }
}
