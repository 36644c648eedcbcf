package dev.ullage.common.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** The arithmetic of limits: never above the budget, never negative, never rounded up. Checked against big integers. */
class QuantitiesTest {
    private static final long PETABYTE = 1L << 50;
    private static final List<Phase> PHASES = List.of(Phase.values());

    @Property
    void aShareOfAnAmountIsTheExactProductRoundedDown(
            @ForAll @LongRange(min = 0) long bytes, @ForAll @IntRange(max = 10_000) int basisPoints) {
        BigInteger exact = BigInteger.valueOf(bytes)
                .multiply(BigInteger.valueOf(basisPoints))
                .divide(BigInteger.valueOf(10_000));

        assertThat(MemoryBytes.of(bytes).times(new Share(basisPoints)).value()).isEqualTo(exact.longValueExact());
    }

    // Goal: an amount reads as a formatter writes it, half up. Method: any amount, and those around a half of a tenth.
    @Property
    void anAmountReadsAsAFormatterWritesIt(
            @ForAll @LongRange(min = 0) long bytes,
            @ForAll @IntRange(max = 5_000) int halves,
            @ForAll @IntRange(min = -2, max = 2) int beside) {
        for (long unit : new long[] {MemoryBytes.MEBIBYTE, MemoryBytes.GIBIBYTE}) {
            long half = unit * halves / 20 + beside;
            for (long amount : new long[] {bytes, bytes >> 15, bytes >> 25, bytes >> 35, Math.max(0, half)}) {
                assertThat(MemoryBytes.of(amount)).hasToString(formatted(amount));
            }
        }
    }

    private static String formatted(long bytes) {
        if (bytes >= MemoryBytes.GIBIBYTE) {
            return String.format(Locale.ROOT, "%.1f GiB", bytes / (double) MemoryBytes.GIBIBYTE);
        }
        return bytes >= MemoryBytes.MEBIBYTE
                ? String.format(Locale.ROOT, "%.1f MiB", bytes / (double) MemoryBytes.MEBIBYTE)
                : bytes + " B";
    }

    @Property
    void aShareAndItsComplementNeverAddUpToMoreThanTheWhole(
            @ForAll @LongRange(min = 0) long bytes, @ForAll @IntRange(max = 10_000) int basisPoints) {
        MemoryBytes whole = MemoryBytes.of(bytes);
        Share share = new Share(basisPoints);

        long lost =
                bytes - whole.times(share).plus(whole.times(share.complement())).value();

        assertThat(lost).isBetween(0L, 1L);
    }

    @Property
    void equalPartsNeverAddUpToMoreThanTheWhole(
            @ForAll @LongRange(min = 0) long bytes, @ForAll @IntRange(min = 1) int parts) {
        long part = MemoryBytes.of(bytes).dividedBy(parts).value();

        assertThat(part).isEqualTo(Math.floorDiv(bytes, parts));
        assertThat(bytes - part * parts).isBetween(0L, parts - 1L);
    }

    @Property
    void sumsDoNotDependOnTheOrder(
            @ForAll @Size(max = 20) List<@LongRange(min = 0, max = PETABYTE) Long> amounts, @ForAll Random random) {
        List<Long> shuffled = new ArrayList<>(amounts);
        Collections.shuffle(shuffled, random);

        assertThat(sum(shuffled)).isEqualTo(sum(amounts));
    }

    private static MemoryBytes sum(List<Long> amounts) {
        return amounts.stream().map(MemoryBytes::of).reduce(MemoryBytes.ZERO, MemoryBytes::plus);
    }

    @Property
    void whatIsLeftOfABudgetIsNeverNegativeAndNeverMoreThanTheBudget(
            @ForAll @LongRange(min = 0) long budget, @ForAll @LongRange(min = 0) long used) {
        assertThat(MemoryBytes.of(budget).minusOrZero(MemoryBytes.of(used)).value())
                .isEqualTo(Math.max(0, budget - used));
    }

    @Property
    void roundingUpAddsLessThanOneGranule(
            @ForAll @LongRange(min = 0, max = PETABYTE) long bytes,
            @ForAll @LongRange(min = 1, max = PETABYTE) long granule) {
        long rounded =
                MemoryBytes.of(bytes).roundedUpTo(MemoryBytes.of(granule)).value();

        assertThat(rounded % granule).isZero();
        assertThat(rounded - bytes).isBetween(0L, granule - 1);
    }

    @Property
    void aBudgetIsExactlyWhatIsLeftRoundedDownAndNeverNegative(
            @ForAll @LongRange(min = 0) long allocatable,
            @ForAll @IntRange(max = 10_000) int reserve,
            @ForAll @LongRange(min = 0) long foreign) {
        BigInteger exact = BigInteger.valueOf(allocatable)
                .multiply(BigInteger.valueOf(10_000 - reserve))
                .divide(BigInteger.valueOf(10_000))
                .subtract(BigInteger.valueOf(foreign))
                .max(BigInteger.ZERO);

        assertThat(terms(allocatable, reserve, foreign).budget().value()).isEqualTo(exact.longValueExact());
    }

    @Property
    void aBudgetGrowsWithCapacityAndShrinksWithReserveAndWithForeignMemory(
            @ForAll @LongRange(min = 0, max = PETABYTE) long allocatable,
            @ForAll @LongRange(min = 0, max = PETABYTE) long more,
            @ForAll @IntRange(max = 5_000) int reserve,
            @ForAll @IntRange(max = 5_000) int moreReserve) {
        MemoryBytes budget = terms(allocatable, reserve, allocatable / 3).budget();

        assertThat(terms(allocatable + more, reserve, allocatable / 3).budget()).isGreaterThanOrEqualTo(budget);
        assertThat(terms(allocatable, reserve + moreReserve, allocatable / 3).budget())
                .isLessThanOrEqualTo(budget);
        assertThat(terms(allocatable, reserve, allocatable / 3 + more).budget()).isLessThanOrEqualTo(budget);
    }

    private static BudgetTerms terms(long allocatable, int reserve, long foreign) {
        return new BudgetTerms(MemoryBytes.of(allocatable), new Share(reserve), MemoryBytes.of(foreign));
    }

    @Property
    void theHighestPhaseLimitIsOneOfThemAndNoneIsHigher(
            @ForAll @Size(7) List<@LongRange(min = 0, max = PETABYTE) Long> amounts) {
        PhaseLimits limits = PhaseLimits.of(phase -> MemoryBytes.of(amounts.get(PHASES.indexOf(phase))));

        assertThat(limits.max().value()).isEqualTo(Collections.max(amounts));
        for (Phase phase : Phase.values()) {
            assertThat(limits.in(phase).value()).isEqualTo(amounts.get(PHASES.indexOf(phase)));
        }
    }

    @Test
    void anAmountIsNeverNegativeAndOverflowsLoudly() {
        MemoryBytes most = MemoryBytes.of(Long.MAX_VALUE);

        assertThatThrownBy(() -> MemoryBytes.of(-1)).hasMessage("memory must not be negative: -1 bytes");
        assertThatThrownBy(() -> most.plus(MemoryBytes.of(1))).isInstanceOf(ArithmeticException.class);
        assertThatThrownBy(() -> MemoryBytes.ofGibibytes(1L << 40)).isInstanceOf(ArithmeticException.class);
        assertThatThrownBy(() -> MemoryBytes.of(1).minus(MemoryBytes.of(2))).hasMessage("cannot take 2 bytes from 1");
        assertThatThrownBy(() -> most.roundedUpTo(MemoryBytes.of(2))).isInstanceOf(ArithmeticException.class);
        assertThatThrownBy(() -> most.dividedBy(0)).hasMessage("cannot divide memory into 0 parts");
    }

    @Test
    void aShareIsZeroToAHundredPercent() {
        assertThatThrownBy(() -> new Share(-1)).hasMessage("a share must be 0 to 10000 basis points: -1");
        assertThatThrownBy(() -> new Share(10_001)).hasMessage("a share must be 0 to 10000 basis points: 10001");
        assertThat(List.of(Share.ofPercent(20), new Share(1250), new Share(1), new Share(105)))
                .map(Share::toString)
                .containsExactly("20%", "12.5%", "0.01%", "1.05%");
    }

    @Test
    void amountsAndLimitsReadWellInMessages() {
        assertThat(List.of(17L, 512L << 20, 12L << 30))
                .map(bytes -> MemoryBytes.of(bytes).toString())
                .containsExactly("17 B", "512.0 MiB", "12.0 GiB");
        assertThat(PhaseLimits.uniform(MemoryBytes.ofGibibytes(3))).hasToString("3.0 GiB");
        assertThat(PhaseLimits.of(
                        phase -> phase == Phase.IDLE ? MemoryBytes.ofGibibytes(1) : MemoryBytes.ofGibibytes(3)))
                .hasToString("1.0 GiB to 3.0 GiB");
        assertThat(terms(100L << 30, 2000, 1L << 30))
                .hasToString("79.0 GiB (allocatable 100.0 GiB, reserve 20%, foreign 1.0 GiB)");
    }
}
