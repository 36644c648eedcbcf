package dev.ullage.worker.sampling;

import static dev.ullage.common.testing.Fixtures.gib;
import static dev.ullage.common.testing.Fixtures.mib;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.worker.sampling.ForeignBounds.Own;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/**
 * What strangers hold where the driver does not tell it: never more than is in use, never less than the truth, and
 * little more than that where ranks say what they hold.
 */
class ForeignBoundsTest {
    private static final long RANK = 100;
    private static final long STRANGER = 900;
    private static final Attribution NOBODY = new Attribution(Map.of(), List.of());

    private final DeviceTerms terms = new DeviceTerms(DeviceKind.DISCRETE);

    private static DeviceReading reading(MemoryBytes used, Optional<List<ProcessUse>> processes) {
        return new DeviceReading(
                Optional.of(new MemoryUse(gib(80), Optional.of(mib(0)), used, gib(80).minus(used))),
                processes,
                List.of());
    }

    private static ForeignBounds bounds(DeviceReading reading, Attribution whose, Own... ranks) {
        return ForeignBounds.of(reading.memory().orElseThrow(), reading, whose, List.of(ranks));
    }

    private static ForeignBounds untold(MemoryBytes used, Own... ranks) {
        return bounds(reading(used, Optional.empty()), NOBODY, ranks);
    }

    private static Own rank(MemoryBytes held, MemoryBytes ceiling, long ageMillis) {
        return new Own(RANK, Optional.of(held), ceiling, ageMillis);
    }

    private MemoryBytes planned(ForeignBounds bounds) {
        return terms.foreign(Optional.empty(), Optional.of(bounds));
    }

    @Test
    void onADeviceWithoutRanksAllThatIsInUseIsForeign() {
        assertThat(planned(untold(gib(3)))).isEqualTo(gib(3));
    }

    @Test
    void whatRanksSayTheyHoldIsNoStrangers() {
        assertThat(planned(untold(gib(33), rank(gib(32), gib(40), 100)))).isEqualTo(gib(1));
    }

    @Test
    void whatTheDriverTellsOfARankCountsBeforeWhatItSaid() {
        Attribution whose = new Attribution(Map.of(RANK, RANK), List.of());
        DeviceReading reading = reading(
                gib(30),
                Optional.of(List.of(
                        new ProcessUse(RANK, Optional.of(gib(21))), new ProcessUse(STRANGER, Optional.empty()))));

        ForeignBounds bounds = bounds(reading, whose, rank(gib(20), gib(40), 60_000));

        assertThat(bounds.most()).isEqualTo(gib(9));
        assertThat(bounds.isSettled()).isTrue();
    }

    @Test
    void aRankThatGrowsInALongPhaseIsNotTakenForAStranger() {
        planned(untold(gib(11), rank(gib(10), gib(60), 100)));

        assertThat(planned(untold(gib(55), rank(gib(10), gib(60), 30_000)))).isEqualTo(gib(1));
    }

    @Test
    void whatRanksMayNotHoldIsAStrangersAlsoWhenTheyAreSilent() {
        planned(untold(gib(11), rank(gib(10), gib(60), 100)));

        assertThat(planned(untold(gib(75), rank(gib(10), gib(60), 30_000)))).isEqualTo(gib(15));
    }

    @Test
    void aRankThatHasNotSpokenYetIsNotTakenForAStranger() {
        Own silent = new Own(RANK, Optional.empty(), MemoryBytes.ZERO, 10);
        planned(untold(gib(1)));

        assertThat(planned(untold(gib(20), silent))).isEqualTo(gib(1));
    }

    @Test
    void afterARestartTheLedgersFigureHoldsUntilTheRanksHaveSpoken() {
        DeviceTerms restarted = new DeviceTerms(DeviceKind.DISCRETE, Optional.of(gib(5)));
        Own silent = new Own(RANK, Optional.empty(), gib(40), Long.MAX_VALUE);

        assertThat(restarted.foreign(Optional.empty(), Optional.of(untold(gib(30), silent))))
                .isEqualTo(gib(5));
        assertThat(restarted.foreign(Optional.empty(), Optional.of(untold(gib(50), silent))))
                .isEqualTo(gib(10));
    }

    @Test
    void oneReadingBetweenWhatARankSaidAndWhatItDidChangesNothing() {
        for (int i = 0; i < SteadyBound.WINDOW; i++) {
            planned(untold(gib(12), rank(gib(10), gib(60), 100)));
        }
        assertThat(planned(untold(gib(40), rank(gib(10), gib(60), 1000)))).isEqualTo(gib(2));
        assertThat(planned(untold(gib(5), rank(gib(10), gib(60), 1000)))).isEqualTo(gib(2));
        for (int i = 0; i < SteadyBound.WINDOW / 2; i++) {
            planned(untold(gib(20), rank(gib(10), gib(60), 100)));
        }
        assertThat(planned(untold(gib(20), rank(gib(10), gib(60), 100)))).isEqualTo(gib(10));
    }

    @Test
    void theTextSaysThatItIsABoundAndFromWhat() {
        assertThat(untold(gib(33), rank(gib(32), gib(40), 100)).text(gib(1)))
                .isEqualTo(
                        "what processes that are no rank's use here is not told: limits are planned with a bound of"
                                + " 1.0 GiB for it (the 33.0 GiB in use less the 32.0 GiB that its ranks hold at least, lately)");
        assertThat(untold(gib(33), rank(gib(20), gib(40), 9_000)).text(gib(2)))
                .isEqualTo("what processes that are no rank's use here is not told: limits are planned with a bound of"
                        + " 2.0 GiB for it (as last known, since not each rank has said lately what it holds; at most"
                        + " 13.0 GiB, the 33.0 GiB in use less the 20.0 GiB that its ranks hold at least)");
    }

    // A truth with any processes, of which the driver tells some, and ranks that say no more than they hold.
    @Property(tries = 2_000)
    void theBoundsHoldTheTruthAndNeverMoreThanIsInUse(@ForAll long seed) {
        Random random = new Random(seed);
        Map<Long, Long> owners = new TreeMap<>();
        List<ProcessUse> listed = new ArrayList<>();
        List<Own> ranks = new ArrayList<>();
        long truth = 0;
        long used = 0;
        for (int i = 0; i < random.nextInt(6); i++) {
            long holds = random.nextLong(1L << 34);
            long pid = RANK + i;
            boolean isRank = random.nextBoolean();
            used += holds;
            truth += isRank ? 0 : holds;
            if (isRank) {
                owners.put(pid, pid);
                long said = random.nextLong(holds + 1);
                ranks.add(new Own(
                        pid,
                        random.nextBoolean() ? Optional.of(MemoryBytes.of(said)) : Optional.empty(),
                        random.nextBoolean() ? MemoryBytes.of(holds + random.nextLong(1L << 33)) : MemoryBytes.ZERO,
                        random.nextInt(5_000)));
            }
            if (random.nextBoolean()) {
                listed.add(new ProcessUse(
                        pid, random.nextBoolean() ? Optional.of(MemoryBytes.of(holds)) : Optional.empty()));
            }
        }
        MemoryBytes inUse = MemoryBytes.of(used);
        DeviceReading reading = new DeviceReading(
                Optional.of(new MemoryUse(gib(200), Optional.empty(), inUse, gib(200).minus(inUse))),
                random.nextInt(4) == 0 ? Optional.empty() : Optional.of(listed),
                List.of());

        ForeignBounds bounds =
                ForeignBounds.of(reading.memory().orElseThrow(), reading, new Attribution(owners, List.of()), ranks);

        assertThat(bounds.most().isMoreThan(inUse.roundedUpTo(ForeignMemory.GRANULE)))
                .isFalse();
        assertThat(bounds.most()).isGreaterThanOrEqualTo(MemoryBytes.of(truth));
        boolean areCeilingsKept = ranks.stream()
                .allMatch(rank -> !rank.ceiling().isZero() || rank.most().isEmpty());
        if (areCeilingsKept) {
            assertThat(bounds.least()).isLessThanOrEqualTo(MemoryBytes.of(truth).roundedUpTo(ForeignMemory.GRANULE));
        }
        assertThat(bounds.least()).isLessThanOrEqualTo(bounds.most());
    }

    /**
     * A truth that moves: a rank grows and lets go of memory, of which a reading may know before the rank's word comes,
     * and is silent for some time; strangers hold what they hold. What is planned is never below that, and above it,
     * after the first readings, by no more than the rank's process uses beside its allocator, and steps.
     */
    @Property(tries = 500)
    void whatIsPlannedIsNeverBelowTheTruthWhileARankGrowsAndShrinks(@ForAll long seed) {
        Random random = new Random(seed);
        MemoryBytes strangers = mib(random.nextInt(20_000));
        MemoryBytes beside = mib(300 + random.nextInt(400));
        MemoryBytes ceiling = mib(40_000).plus(beside);
        DeviceTerms moving = new DeviceTerms(DeviceKind.DISCRETE);
        MemoryBytes holds = gib(1);
        int words = 0;
        for (int second = 0; second < 60; second++) {
            MemoryBytes said = holds;
            // So that of five words in a row no more than two are older than what was read.
            boolean isSilent = (second % 12 == 5 || second % 12 == 6) && random.nextBoolean();
            if (second % 4 == 3 || isSilent) {
                holds = mib(random.nextInt(40_000));
            }
            words += isSilent ? 0 : 1;
            MemoryBytes used = strangers.plus(beside).plus(holds);
            Own rank = new Own(RANK, Optional.of(said), ceiling, isSilent ? 30_000 : 500);

            MemoryBytes planned = moving.foreign(Optional.empty(), Optional.of(untold(used, rank)));

            assertThat(planned).as("second %d", second).isGreaterThanOrEqualTo(strangers);
            assertThat(words >= SteadyBound.WINDOW
                            && planned.isMoreThan(strangers.plus(beside).plus(mib(192))))
                    .as("second %d: %s for %s", second, planned, strangers)
                    .isFalse();
        }
    }
}
