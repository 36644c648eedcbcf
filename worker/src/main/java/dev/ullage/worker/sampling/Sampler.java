package dev.ullage.worker.sampling;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.SampleState;
import dev.ullage.worker.sampling.ReadingRound.Answer;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads every device at a fixed pace and passes on what is known of it, also when the driver does not answer. Waits for
 * nobody: the calls are made by {@link DeviceReaders}.
 *
 * <pre>
 *   ROUND --> a call at the next beat for each device that has none outstanding --> Answered --> their samples
 *         |                             (once they are news)                 passed on, together --> the next ROUND
 *         \-> outstanding for longer than the deadline: a lost sample, the last known one passed on with its age
 *   LATE  --> those that answered are passed on, those behind one that hangs are read, and rounds go on without it
 *   FRESH --(staleAfter)--> STALE --(lostAfter)--> LOST; any usable answer --> FRESH
 * </pre>
 *
 * <p>Soft state only. A device that was ever listed is read for as long as the worker runs, so that one that vanished
 * is shown as lost and one that comes back is fresh again without a restart.
 */
public final class Sampler extends AbstractBehavior<Sampler.Command> {
    private static final Logger LOG = LoggerFactory.getLogger(Sampler.class);

    /** A look may take its time where a device has to be woken. */
    private static final int SCANS_UNTIL_TOLD = 3;
    /**
     * A round of a driver that works is over long before. One device that hangs holds up the others once, for so long
     * or, after rounds that were no news, up to twice that.
     */
    private static final Duration LATE_AFTER = Duration.ofMillis(250);

    /** A beat comes a little after the time that was foreseen. */
    private static final Duration BEAT_WITHIN = Duration.ofMillis(50);

    /** What a sampler is told. */
    public sealed interface Command {}

    private enum Scan implements Command {
        INSTANCE
    }

    /** It is time to see whether a round takes longer than it should; or it had nobody to wait for. */
    private enum Late implements Command {
        INSTANCE
    }

    private record Answered(Map<DeviceId, Answer> answers) implements Command {}

    private record Found(List<DeviceInfo> devices) implements Command {}

    /**
     * What a sampler needs.
     *
     * @param devices those to begin with
     * @param scanEvery between two looks for devices that came or went
     * @param onSamples receives what is known of devices after each round that is news, on the sampler's thread
     * @param onDevices receives the devices there are, after each look, on the thread that looked; it may block
     */
    public record Setup(
            DeviceReaders readers,
            List<DeviceId> devices,
            SamplingSchedule schedule,
            Duration scanEvery,
            Clock clock,
            Consumer<List<Sample>> onSamples,
            Consumer<List<DeviceInfo>> onDevices) {
        public Setup {
            devices = List.copyOf(devices);
        }
    }

    /** One device. */
    private static final class Watched {
        private SampleHistory history;
        private SampleState reported = SampleState.FRESH;
        private Instant askedAt;
        private Optional<ReadingRound> askedIn = Optional.empty();

        Watched(DeviceId device, Instant now) {
            history = SampleHistory.start(device, now);
            askedAt = now;
        }

        void answered(Answer answer, Instant now) {
            Instant readAt = now.minus(answer.age());
            // One that was held back may come after the answer of the call that it was let out for.
            if (answer.age().isZero() || readAt.isAfter(history.goodAt())) {
                history = history.answered(answer.measurement(), readAt);
            }
        }

        Duration waited(Instant now) {
            Duration later = askedIn.map(ReadingRound::repeatedFor).orElse(Duration.ZERO);
            return Duration.between(askedAt, now).minus(later);
        }
    }

    private final Setup setup;
    private final TimerScheduler<Command> timers;
    private final ActorRef<Command> self;
    private final Map<DeviceId, Watched> watched = new TreeMap<>();
    private int scansMissed;
    private ReadingRound newest;

    private Sampler(ActorContext<Command> context, TimerScheduler<Command> timers, Setup setup) {
        super(context);
        this.setup = setup;
        this.timers = timers;
        this.self = context.getSelf();
        setup.devices().forEach(this::watch);
        newest = prepare();
    }

    public static Behavior<Command> create(Setup setup) {
        return Behaviors.withTimers(timers -> {
            timers.startTimerWithFixedDelay(Scan.INSTANCE, setup.scanEvery());
            return Behaviors.setup(context -> new Sampler(context, timers, setup));
        });
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(Answered.class, this::onAnswered)
                .onMessage(Found.class, this::onFound)
                .onMessageEquals(Late.INSTANCE, this::onLate)
                .onMessageEquals(Scan.INSTANCE, this::onScan)
                .build();
    }

    /** @return whether the device is new */
    private boolean watch(DeviceId device) {
        return watched.putIfAbsent(device, new Watched(device, now())) == null;
    }

    /** While every device answers in time, each round is prepared by the answers of the one before. */
    private ReadingRound prepare() {
        Instant now = now();
        Duration untilAsked = setup.readers().untilNext();
        ReadingRound round = setup.readers().prepare(watched.keySet(), answers -> self.tell(new Answered(answers)));
        List<Sample> lost = new ArrayList<>();
        watched.forEach((device, of) -> {
            if (round.includes(device)) {
                of.askedAt = now.plus(untilAsked);
                of.askedIn = Optional.of(round);
            } else {
                lost(of, now).ifPresent(lost::add);
            }
        });
        pass(lost);
        timers.startSingleTimer(
                Late.INSTANCE, round.isOver() ? setup.schedule().interval() : untilAsked.plus(LATE_AFTER));
        return round;
    }

    private Behavior<Command> onLate() {
        if (newest.hurry(LATE_AFTER.minus(BEAT_WITHIN))) {
            timers.startSingleTimer(Late.INSTANCE, LATE_AFTER);
        } else {
            newest = prepare();
        }
        return this;
    }

    private Optional<Sample> lost(Watched of, Instant now) {
        Duration waited = of.waited(now);
        if (waited.compareTo(setup.schedule().deadline()) < 0) {
            return Optional.empty();
        }
        of.history = of.history.missed(waited);
        return Optional.of(sample(of, now));
    }

    private Behavior<Command> onAnswered(Answered command) {
        Instant now = now();
        List<Sample> samples = new ArrayList<>();
        command.answers().forEach((device, answer) -> {
            Watched of = watched.get(device);
            if (of != null) {
                of.answered(answer, now);
                samples.add(sample(of, now));
            }
        });
        pass(samples);
        if (newest.isOver()) {
            newest = prepare();
        }
        return this;
    }

    private Sample sample(Watched of, Instant now) {
        Sample sample = of.history.at(now, setup.schedule());
        SampleState state = sample.quality().state();
        if (state != of.reported) {
            tell(sample);
            of.reported = state;
        }
        return sample;
    }

    private void pass(List<Sample> samples) {
        if (!samples.isEmpty()) {
            setup.onSamples().accept(List.copyOf(samples));
        }
    }

    private void tell(Sample sample) {
        DeviceId device = sample.device();
        if (setup.readers().retired(device).isPresent()) {
            // Said when it was found out, and nobody needs to repair it.
            return;
        }
        long age = sample.age().toMillis();
        List<String> problems = sample.reading().problems();
        switch (sample.quality().state()) {
            case FRESH -> LOG.info("device={} state=FRESH reason=\"it can be read again\"", device);
            case STALE ->
                LOG.warn("device={} state=STALE ageMillis={} reason=\"not read since: {}\"", device, age, problems);
            case LOST ->
                LOG.error(
                        "device={} state=LOST ageMillis={} reason=\"not read since: {}; limits stay, none grows."
                                + " Look at nvidia-smi -q and the kernel's log (dmesg | grep NVRM); a GPU that does not come back"
                                + " needs a reset (nvidia-smi --gpu-reset) or a restart of the host\"",
                        device,
                        age,
                        problems);
        }
    }

    private Behavior<Command> onScan() {
        if (setup.readers().beginScan(setup.onDevices(), devices -> self.tell(new Found(devices)))) {
            scansMissed = 0;
        } else if (++scansMissed == SCANS_UNTIL_TOLD) {
            LOG.warn("reason=\"the driver has not answered since it was asked which devices there are; ones that come"
                    + " or go, and changes of a MIG layout, are not noticed until it does\"");
        }
        return this;
    }

    private Behavior<Command> onFound(Found command) {
        List<DeviceInfo> added =
                command.devices().stream().filter(device -> watch(device.id())).toList();
        if (!added.isEmpty()) {
            // The next round is the first with all of them.
            setup.readers().attention().next();
        }
        return this;
    }

    private Instant now() {
        return setup.clock().instant();
    }
}
