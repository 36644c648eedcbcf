package dev.ullage.worker.sampling;

import static dev.ullage.common.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.testing.TestClock;
import dev.ullage.worker.testing.LogWatch;
import dev.ullage.worker.testing.ScriptedProbe;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Case G04, the worker's part, and a lost GPU: a driver that never answers costs one thread and holds up nobody. The
 * pace is real and short, the clock that ages are told by is the test's.
 */
class SamplerTest {
    private static final ActorTestKit KIT = ActorTestKit.create();
    private static final String FIRST = "GPU-1";
    private static final String SECOND = "GPU-2";

    @RegisterExtension
    final LogWatch log = new LogWatch();

    private final TestClock clock = new TestClock();
    private final ScriptedProbe probe = new ScriptedProbe(FIRST, SECOND);
    private final DeviceReaders readers =
            new DeviceReaders(probe, Path.of("/proc"), Duration.ofMillis(10), Clock.systemUTC());
    private final Map<DeviceId, Sample> newest = new ConcurrentHashMap<>();
    private final AtomicInteger together = new AtomicInteger();
    private final AtomicReference<@Nullable Sample> firstLost = new AtomicReference<>();
    private final AtomicInteger passes = new AtomicInteger();
    private final List<List<DeviceInfo>> scans = new CopyOnWriteArrayList<>();

    private Optional<ActorRef<Sampler.Command>> sampler = Optional.empty();

    @AfterAll
    static void stopTheKit() {
        KIT.shutdownTestKit();
    }

    @AfterEach
    void close() {
        probe.release(FIRST);
        sampler.ifPresent(KIT::stop);
        readers.close();
    }

    private void start() {
        start(clock);
    }

    private void start(Clock ages) {
        sampler = Optional.of(KIT.spawn(Sampler.create(new Sampler.Setup(
                readers,
                probe.devices().stream().map(DeviceInfo::id).toList(),
                SamplingSchedule.every(Duration.ofMillis(10)),
                Duration.ofMillis(20),
                ages,
                this::passed,
                scans::add))));
        eventually("both are read", () -> newest.size() == 2 && !scans.isEmpty());
    }

    /** From here on the device hangs, and everybody has been told what was known of it until then. */
    private void hang(String device) {
        probe.hang(device);
        eventually("the call hangs", () -> probe.outstanding(device) == 1);
        int before = passes.get();
        eventually("it is known to be late", () -> passes.get() > before + 1);
    }

    private void passed(List<Sample> samples) {
        for (Sample sample : samples) {
            newest.put(sample.device(), sample);
            if (sample.quality().lostSamples() > 0) {
                firstLost.compareAndSet(null, sample);
            }
        }
        passes.incrementAndGet();
        if (samples.size() == 2) {
            together.incrementAndGet();
        }
    }

    private Sample sample(String device) {
        return Objects.requireNonNull(newest.get(new DeviceId(device)));
    }

    private void is(String device, SampleState state) {
        eventually(device + " is " + state, () -> sample(device).quality().state() == state);
    }

    @Test
    void aCallThatHangsMakesItsDeviceStaleThenLostAndTheOtherStaysFresh() {
        log.expectError("device=GPU-1 state=LOST");
        start();
        hang(FIRST);

        secondsPassWhileRead(SECOND, 4);
        is(FIRST, SampleState.STALE);
        secondsPassWhileRead(SECOND, 60);
        is(FIRST, SampleState.LOST);

        assertThat(sample(FIRST).age()).isGreaterThanOrEqualTo(Duration.ofSeconds(60));
        assertThat(sample(FIRST).reading().memory()).isPresent();
        assertThat(sample(FIRST).quality().lostSamples()).isPositive();
        assertThat(sample(SECOND).quality().state()).isEqualTo(SampleState.FRESH);
        assertThat(log.warnings()).anyMatch(warning -> warning.startsWith("device=GPU-1 state=STALE"));
    }

    /** Second by second: over one long jump the device that answers would look just as old as the one that hangs. */
    private void secondsPassWhileRead(String other, int seconds) {
        for (int i = 0; i < seconds; i++) {
            clock.advance(Duration.ofSeconds(1));
            eventually("the other is read", () -> sample(other).age().isZero());
        }
    }

    @Test
    void howeverManyRoundsGoByOneCallIsOutstandingAndItCostsOneThread() {
        log.expectError("state=LOST");
        start();
        long threads = probeThreads();
        hang(FIRST);
        int calls = probe.calls(FIRST);
        clock.advance(Duration.ofSeconds(60));

        eventually("fifty rounds", () -> sample(FIRST).quality().lostSamples() >= 50);

        assertThat(probe.outstanding(FIRST)).isEqualTo(1);
        assertThat(probe.calls(FIRST)).isEqualTo(calls);
        // One that was added while the other device was slow on a busy machine goes again.
        eventually("the thread that hangs is replaced by one", () -> probeThreads() <= threads + 1);
        probe.release(FIRST);
        eventually("that one goes when it is not needed", () -> probeThreads() <= threads);
    }

    @Test
    void whatIsReadInOneRoundIsPassedOnTogether() {
        start();

        eventually("both at once", () -> together.get() >= 3);
    }

    @Test
    void readingsThatSayNothingNewAreMadeAndPassedOnOnceASecond() {
        start();
        int calls = probe.calls(FIRST);
        int before = passes.get();

        eventually("a hundred rounds", () -> probe.calls(FIRST) >= calls + 100);

        // A hundred take a second or more; on a busy machine there is a pass for each second of them.
        assertThat(passes.get() - before).isLessThan(50);
        assertThat(sample(FIRST).quality().lostSamples()).isZero();
    }

    @Test
    void whoAsksForTheNextRoundIsToldOfIt() {
        start();
        int calls = probe.calls(FIRST);
        for (int i = 0; i < 20; i++) {
            int before = passes.get();
            readers.attention().next();
            eventually("it is passed on", () -> passes.get() > before);
        }

        // One in a second, so a hundred rounds each, would be told anyway.
        assertThat(probe.calls(FIRST) - calls).isLessThan(400);
    }

    @Test
    void oneThatHangsAfterAQuietWhileIsAsOldAsItsLastAnswer() {
        start();
        int calls = probe.calls(FIRST);
        eventually("thirty rounds", () -> probe.calls(FIRST) >= calls + 30);
        clock.advance(Duration.ofMinutes(1));

        hang(FIRST);

        // By the clock of the test the round was begun a minute ago, and what it answered since is of now.
        assertThat(sample(FIRST).age()).isLessThan(Duration.ofSeconds(30));
    }

    // By a real clock: how long it was waited for is the difference of two.
    @Test
    void oneThatHangsAfterAQuietWhileHasMissedNothingBeforeItIsOverdue() {
        start(Clock.systemUTC());
        int before = passes.get();
        eventually("a round is passed on", () -> passes.get() > before);
        int calls = probe.calls(FIRST);
        eventually("half a second of rounds that are no news", () -> probe.calls(FIRST) >= calls + 50);

        hang(FIRST);
        eventually("it is overdue", () -> firstLost.get() != null);

        // A deadline is a second; from the first of those rounds on it would have been over in half of that.
        assertThat(Objects.requireNonNull(firstLost.get()).age()).isGreaterThan(Duration.ofMillis(900));
    }

    @Test
    void oneThatComesBackWhileTheOthersAreQuietIsReadInTheNextRound() {
        start();
        int rounds = 0;
        for (int i = 0; i < 8; i++) {
            hang(FIRST);
            int others = probe.calls(SECOND);
            int calls = probe.calls(FIRST);
            probe.release(FIRST);
            eventually("it is read again", () -> probe.calls(FIRST) >= calls + 1);
            rounds += probe.calls(SECOND) - others;
        }

        // Two or so each time; one that waited for news of the others would wait for some fifty.
        assertThat(rounds).isLessThan(120);
    }

    private static long probeThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("probe-"))
                .count();
    }

    @Test
    void aDeviceThatAnswersAgainIsFreshWithoutARestart() {
        log.expectError("state=LOST");
        start();
        hang(FIRST);
        clock.advance(Duration.ofSeconds(60));
        is(FIRST, SampleState.LOST);
        eventually("a lost sample", () -> sample(FIRST).quality().lostSamples() > 0);

        probe.release(FIRST);

        is(FIRST, SampleState.FRESH);
        assertThat(sample(FIRST).reading().problems()).isEmpty();
        assertThat(sample(FIRST).quality().lostSamples()).isPositive();
    }

    @Test
    void aDeviceWhoseCallsFailIsLostAsWellAndSaysWhy() {
        log.expectError("nvmlDeviceGetMemoryInfo_v2: GPU_IS_LOST");
        start();
        probe.fail(FIRST, "nvmlDeviceGetMemoryInfo_v2: GPU_IS_LOST");
        eventually("a failure", () -> sample(FIRST).quality().lostSamples() > 0);

        secondsPassWhileRead(SECOND, 60);

        is(FIRST, SampleState.LOST);
        assertThat(sample(FIRST).reading().problems()).containsExactly("nvmlDeviceGetMemoryInfo_v2: GPU_IS_LOST");
        probe.fail(FIRST, "");
        is(FIRST, SampleState.FRESH);
    }

    @Test
    void aDeviceThatComesLaterIsReadAndOneThatGoesIsStillShown() {
        log.expectError("device=GPU-1 state=LOST");
        start();

        probe.becomes(SECOND, "GPU-3");

        eventually("the new one is read", () -> newest.containsKey(new DeviceId("GPU-3")));
        assertThat(scans).isNotEmpty();
        eventually("a failure", () -> sample(FIRST).quality().lostSamples() > 0);
        secondsPassWhileRead("GPU-3", 60);
        is(FIRST, SampleState.LOST);
        assertThat(sample(FIRST).reading().memory()).isPresent();
    }

    @Test
    void theFirstReadingIsWaitedForOnlySoLong() {
        probe.hang(FIRST);

        assertThat(readers.readWithin(new DeviceId(FIRST), Duration.ofMillis(50))
                        .problems())
                .containsExactly("the driver has not answered within 50 ms; memory is unknown");
        assertThat(readers.readWithin(new DeviceId(FIRST), Duration.ofMillis(50))
                        .problems())
                .containsExactly("an earlier call for this device has not come back; memory is unknown");
        assertThat(readers.readWithin(new DeviceId(SECOND), Duration.ofSeconds(10))
                        .memory())
                .isPresent();
    }
}
