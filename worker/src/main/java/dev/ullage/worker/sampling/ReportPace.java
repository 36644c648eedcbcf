package dev.ullage.worker.sampling;

import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * When what is known of one device is told to the coordinator, which plans every 250 ms and has no use for more: at
 * once when it says something new in kind, otherwise no sooner than that after the last time, and now and then when it
 * says nothing new at all.
 *
 * <p>No peak is lost by it: of the readings since the last time, the one with most memory used is told, with its own
 * age. What the ranks say and what is wrong is always of now. Pure, time is an argument; one owner, soft.
 */
public final class ReportPace {
    /** A little less than a coordinator's tick, so that readings at that very pace are all told. */
    static final Duration SHORTEST = Duration.ofMillis(225);

    /**
     * What did not change is told with the first reading after that: once a second where devices are read so often,
     * also when one reading was late.
     */
    static final Duration REPEAT = Duration.ofMillis(600);

    /**
     * What is to be told.
     *
     * @param isQualityDue whether the quality of the readings is to be told with it
     */
    public record Report(DeviceSampled sample, boolean isQualityDue) {}

    private static final Pattern AMOUNT = Pattern.compile("\\d+");

    /** What of a report is not just an amount. */
    private record Kind(SampleState state, boolean isMemoryKnown, boolean isForeignKnown, List<String> problems) {
        static Kind of(DeviceSampled report, SampleState state) {
            // A driver whose figures never add up says so with other figures each time.
            List<String> problems = report.problems().stream()
                    .map(problem -> AMOUNT.matcher(problem).replaceAll("0"))
                    .toList();
            return new Kind(state, report.memory().isPresent(), report.foreign().isPresent(), problems);
        }
    }

    /** A reading that has not been told. */
    private record Peak(MemoryUse memory, Optional<MemoryBytes> foreign, Instant readAt) {}

    private Optional<Instant> toldAt = Optional.empty();
    private Optional<Kind> told = Optional.empty();
    private Optional<DeviceSampled> newestTold = Optional.empty();
    private Optional<SampleQuality> quality = Optional.empty();
    private Instant qualityAt = Instant.EPOCH;
    private Optional<Peak> peak = Optional.empty();
    private boolean isHolding;

    /** @return what is to be told now; empty when that has time */
    public Optional<Report> offer(DeviceSampled newest, SampleQuality qualityNow, Instant now) {
        Kind kind = Kind.of(newest, qualityNow.state());
        boolean isNewInKind = !told.equals(Optional.of(kind));
        if (isNewInKind) {
            // What came before was read under other conditions.
            peak = Optional.empty();
        }
        peak = higher(newest, now);
        DeviceSampled report = peak.map(most -> with(newest, most, now)).orElse(newest);
        isHolding = !isNewInKind && (!isTold(newest) || !isTold(report));
        if (!isHolding) {
            // What was read since is what was told; a lower reading after it is not to wait behind it.
            peak = Optional.empty();
        }
        Duration pause = isHolding ? SHORTEST : REPEAT;
        if (!isNewInKind
                && toldAt.filter(at -> Duration.between(at, now).compareTo(pause) < 0)
                        .isPresent()) {
            return Optional.empty();
        }
        isHolding = false;
        toldAt = Optional.of(now);
        told = Optional.of(kind);
        newestTold = Optional.of(report);
        peak = Optional.empty();
        return Optional.of(new Report(report, isQualityDue(qualityNow, now)));
    }

    /** Whether something new has been offered that was not told yet. */
    public boolean isHolding() {
        return isHolding;
    }

    /** Whether the coordinator has been told just that, however long ago. */
    private boolean isTold(DeviceSampled report) {
        return newestTold
                .filter(told -> told.memory().equals(report.memory())
                        && told.foreign().equals(report.foreign())
                        && saysTheSame(told.ranks(), report.ranks())
                        && told.problems().equals(report.problems()))
                .isPresent();
    }

    private static boolean saysTheSame(List<RankSample> told, List<RankSample> now) {
        return told.size() == now.size()
                && IntStream.range(0, told.size()).allMatch(i -> told.get(i).isSameButForItsAge(now.get(i)));
    }

    private boolean isQualityDue(SampleQuality now, Instant at) {
        boolean isDue = !quality.equals(Optional.of(now))
                || Duration.between(qualityAt, at).compareTo(REPEAT) >= 0;
        if (isDue) {
            quality = Optional.of(now);
            qualityAt = at;
        }
        return isDue;
    }

    private Optional<Peak> higher(DeviceSampled newest, Instant now) {
        Optional<Peak> current =
                newest.memory().map(memory -> new Peak(memory, newest.foreign(), now.minusMillis(newest.ageMillis())));
        boolean isKept = peak.isPresent()
                && (current.isEmpty()
                        || peak.get()
                                .memory()
                                .used()
                                .isMoreThan(current.get().memory().used()));
        return isKept ? peak : current;
    }

    private static DeviceSampled with(DeviceSampled newest, Peak most, Instant now) {
        return new DeviceSampled(
                newest.node(),
                newest.device(),
                Math.max(0, Duration.between(most.readAt(), now).toMillis()),
                Optional.of(most.memory()),
                most.foreign(),
                newest.ranks(),
                newest.problems());
    }
}
