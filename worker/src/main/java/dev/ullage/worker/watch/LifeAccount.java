package dev.ullage.worker.watch;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankAccount;
import dev.ullage.common.model.RankAccount.Losses;
import dev.ullage.common.model.RankAccount.Memory;
import dev.ullage.common.model.RankAccount.PhaseMemory;
import dev.ullage.common.model.RankAccount.PhaseTimes;
import dev.ullage.common.model.RankAccount.RoomOverTime;
import dev.ullage.common.model.RankAccount.Training;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.RankWatch.Allocator;
import dev.ullage.common.model.Share;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Adds up what one process of a rank comes to, for reports: its peaks, its room over time, and the newest that its
 * client has counted. Unlike {@link PhaseWindow} it forgets nothing. Owned by the rank's session, not thread safe,
 * bounded; time is an argument.
 *
 * <p>Room counts from one look to the next, with what was known at the first; a stretch of more than
 * {@link #LONGEST_STRETCH} does not count, for nobody looked.
 */
public final class LifeAccount {
    static final Duration LONGEST_STRETCH = Duration.ofSeconds(10);

    private static final BigInteger MEBIBYTE_SECOND = BigInteger.valueOf(MemoryBytes.MEBIBYTE * 1000);

    private final Instant began;
    private final Map<Phase, MemoryBytes> peaks = new EnumMap<>(Phase.class);
    private final LossCurve losses = new LossCurve();
    private Optional<MemoryBytes> deviceTotal = Optional.empty();
    private Optional<MemoryBytes> peak = Optional.empty();
    private Optional<PhaseLimits> limits = Optional.empty();
    private Optional<Allocator> allocator = Optional.empty();
    private Optional<Share> highestFragmentation = Optional.empty();
    private Optional<TrainingReport> newest = Optional.empty();
    private Instant looked;
    private Optional<MemoryBytes> held = Optional.empty();
    private long knownMillis;
    private BigInteger promised = BigInteger.ZERO;
    private BigInteger used = BigInteger.ZERO;

    public LifeAccount(Instant began) {
        this.began = began;
        this.looked = began;
    }

    /** The device was read. */
    public void device(MemoryBytes total) {
        deviceTotal = Optional.of(total);
    }

    /** A step ended, and this is what the allocator has come to with it. */
    public void add(StepSummary summary, Allocator known) {
        summary.peaks().forEach(one -> one.held()
                .filter(amount -> !amount.isZero())
                .ifPresent(amount -> peaks.merge(one.phase(), amount, MemoryBytes::max)));
        allocator = Optional.of(known);
        highestFragmentation = Optional.of(known)
                .flatMap(Allocator::fragmentation)
                .map(fragmentation -> {
                    Share highest = highestFragmentation.orElse(fragmentation);
                    return highest.basisPoints() > fragmentation.basisPoints() ? highest : fragmentation;
                });
    }

    /** The client has counted on; one that counts from the start again is another client in the same process. */
    public void add(TrainingReport report) {
        boolean isAnother = newest.isPresent()
                && (report.elapsedMillis() < newest.get().elapsedMillis()
                        || report.counts().steps() < newest.get().counts().steps());
        if (isAnother) {
            losses.clear();
        }
        newest = Optional.of(report);
        report.loss().billionths().ifPresent(loss -> losses.add(report.step(), loss));
    }

    /** What its allocator says, and what it may hold by its newest order. */
    public void look(Optional<PhaseLimits> ordered, RankUse use, Instant now) {
        long millis = Duration.between(looked, now).toMillis();
        if (limits.isPresent() && held.isPresent() && millis > 0 && millis <= LONGEST_STRETCH.toMillis()) {
            knownMillis += millis;
            MemoryBytes limit = limits.get().max();
            promised = promised.add(overTime(limit, millis));
            used = used.add(overTime(held.get().min(limit), millis));
        }
        looked = now;
        limits = ordered;
        held = use.held();
        peak = most(most(peak, held), use.peakReserved().or(use::peakAllocated));
    }

    private static BigInteger overTime(MemoryBytes amount, long millis) {
        return BigInteger.valueOf(amount.value()).multiply(BigInteger.valueOf(millis));
    }

    private static Optional<MemoryBytes> most(Optional<MemoryBytes> left, Optional<MemoryBytes> right) {
        return left.isPresent() && right.isPresent() ? Optional.of(left.get().max(right.get())) : left.or(() -> right);
    }

    /** What it has come to. */
    public RankAccount account(RankAccount.Whose whose, Instant now) {
        return new RankAccount(
                whose.instance(),
                whose.device(),
                whose.worldSize(),
                Math.max(0, Duration.between(began, now).toMillis()),
                OptionalLong.empty(),
                new Memory(
                        deviceTotal,
                        peak.filter(amount -> !amount.isZero()),
                        phases(),
                        room(),
                        allocator,
                        highestFragmentation),
                newest.map(this::training));
    }

    private List<PhaseMemory> phases() {
        List<PhaseMemory> phases = new ArrayList<>();
        for (Phase phase : Phase.values()) {
            Optional<MemoryBytes> most = Optional.ofNullable(peaks.get(phase));
            if (most.isPresent() || limits.isPresent()) {
                phases.add(new PhaseMemory(phase, most, limits.map(all -> all.in(phase))));
            }
        }
        return phases;
    }

    private Optional<RoomOverTime> room() {
        if (knownMillis == 0) {
            return Optional.empty();
        }
        long all = promised.divide(MEBIBYTE_SECOND).longValueExact();
        long held = used.divide(MEBIBYTE_SECOND).longValueExact();
        return Optional.of(new RoomOverTime(knownMillis, all, held, all - held));
    }

    private Training training(TrainingReport report) {
        return new Training(
                report.elapsedMillis(),
                report.counts().steps(),
                report.counts().samples(),
                report.counts().megaflopsPerStep(),
                new PhaseTimes(report.phases()),
                report.waits(),
                report.latency(),
                new Losses(losses.points(), report.loss().leftOut()));
    }
}
