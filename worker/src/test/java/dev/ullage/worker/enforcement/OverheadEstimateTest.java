package dev.ullage.worker.enforcement;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankEnforcement;
import dev.ullage.common.model.RankEnforcement.Overhead;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class OverheadEstimateTest {
    private static final Instant T0 = Instant.parse("2026-01-01T00:00:00Z");
    private static final Optional<MemoryBytes> DEFAULT = Optional.of(mib(512));

    private OverheadEstimate estimate = OverheadEstimate.UNKNOWN;
    private Instant now = T0;

    private static MemoryBytes mib(long mebibytes) {
        return MemoryBytes.ofMebibytes(mebibytes);
    }

    private Instant next() {
        now = now.plusSeconds(1);
        return now;
    }

    private void report(long reservedMib) {
        estimate = estimate.reported(Optional.of(mib(reservedMib)), true, next());
    }

    private void read(long usedMib) {
        estimate = estimate.read(mib(usedMib), next());
    }

    private void measure(long reservedMib, long usedMib) {
        report(reservedMib);
        read(usedMib);
        report(reservedMib);
    }

    private Overhead inForce() {
        return estimate.inForce(DEFAULT).orElseThrow();
    }

    @Test
    void untilItIsMeasuredItIsTheDefaultAndSaysSo() {
        assertThat(inForce()).isEqualTo(new Overhead(mib(512), true));
        assertThat(estimate.inForce(Optional.empty())).isEmpty();
        report(1000);
        read(1800);
        assertThat(inForce().provisional()).isTrue();

        report(1000);

        assertThat(inForce()).isEqualTo(new Overhead(mib(800), false));
    }

    @Test
    void whatTheFrameworkTookBetweenTheTwoIsNoOverhead() {
        report(1000);
        read(9800);
        report(9000);
        assertThat(inForce().provisional()).isTrue();
        // The reading was made before the report it would be compared with.
        report(9000);
        assertThat(inForce().provisional()).isTrue();
    }

    @Test
    void duringInitAndWithoutAReservedAmountNothingIsMeasured() {
        estimate = estimate.reported(Optional.of(mib(10)), false, next()).read(mib(300), next());
        estimate = estimate.reported(Optional.of(mib(10)), false, next());
        assertThat(inForce().provisional()).isTrue();
        estimate = estimate.read(mib(300), next()).reported(Optional.empty(), true, next());
        estimate = estimate.read(mib(300), next()).reported(Optional.empty(), true, next());
        assertThat(inForce().provisional()).isTrue();
    }

    @Test
    void amountsThatContradictEachOtherAreNotBelieved() {
        measure(1000, 900);

        assertThat(inForce().provisional()).isTrue();
    }

    @Test
    void aJumpCountsWhenItWasMeasuredTwiceAndOneOutlierDoesNot() {
        measure(1000, 1400);
        measure(1000, 1900);
        assertThat(inForce().bytes()).isEqualTo(mib(400));
        measure(1000, 1400);
        measure(1000, 1960);
        assertThat(inForce().bytes()).isEqualTo(mib(400));

        measure(1000, 1912);

        assertThat(inForce().bytes()).isEqualTo(mib(912));
    }

    @Test
    void aFallCountsLateSoThatLimitsDoNotSwing() {
        measure(1000, 1912);
        for (int i = 0; i < OverheadEstimate.PATIENCE - 1; i++) {
            measure(1000, 1400);
            assertThat(inForce().bytes()).isEqualTo(mib(912));
        }

        measure(1000, 1400);

        assertThat(inForce().bytes()).isEqualTo(mib(400));
    }

    @Property
    void itIsOneOfWhatWasMeasuredInWholeStepsAndAFlutterOfOneStepMovesItOnceAtMost(
            @ForAll long seed, @ForAll @IntRange(min = 0, max = 4000) int base) {
        Random random = new Random(seed);
        OverheadEstimate one = OverheadEstimate.UNKNOWN;
        Instant at = T0;
        int changes = 0;
        Optional<MemoryBytes> before = Optional.empty();
        for (int i = 0; i < 200; i++) {
            MemoryBytes used = mib(5000 + base + (random.nextBoolean() ? 1 : 0));
            one = one.reported(Optional.of(mib(5000)), true, at)
                    .read(used, at.plusMillis(1))
                    .reported(Optional.of(mib(5000)), true, at.plusMillis(2));
            at = at.plusSeconds(1);
            MemoryBytes now = one.inForce(Optional.empty()).orElseThrow().bytes();
            assertThat(now.value() % OverheadEstimate.GRANULE.value()).isZero();
            changes += before.isPresent() && !before.get().equals(now) ? 1 : 0;
            before = Optional.of(now);
        }
        assertThat(changes).isLessThanOrEqualTo(1);
    }

    /** Adapted from https://github.com/pytorch/pytorch/issues/58466: a process and its allocator have two limits. */
    @Test
    void caseC01() throws IOException {
        List<JsonNode> cases = List.of(cases().get(0), cases().get(1), cases().get(2));
        JsonNode measured = cases.get(0);
        MemoryBytes seen = mib(measured.path("process_used_mib_seen").longValue());
        MemoryBytes reserved = MemoryBytes.of(
                seen.value() - (long) (measured.path("implied_overhead_mib").doubleValue() * (1 << 20)));
        estimate = estimate.reported(Optional.of(reserved), true, next()).read(seen, next());
        estimate = estimate.reported(Optional.of(reserved), true, next());
        RankEnforcement how = how(Optional.of(inForce()));
        MemoryBytes budget = mib(measured.path("rank_budget_mib").longValue());
        MemoryBytes share = how.allocatorShare(budget).orElseThrow();
        double total = mib(measured.path("device_total_mib").longValue()).value();
        assertThat(share.value() / total)
                .isLessThanOrEqualTo(measured.path("expect_fraction_max").doubleValue());
        assertThat(share.plus(MemoryBytes.of(seen.value() - reserved.value())))
                .isLessThanOrEqualTo(budget)
                .isGreaterThan(budget.minus(OverheadEstimate.GRANULE));

        JsonNode below = cases.get(1);
        Overhead bare = new Overhead(mib(below.path("process_used_mib_seen").longValue()), false);
        MemoryBytes tooSmall = mib(below.path("rank_budget_mib").longValue());
        assertThat(bare.refusal(tooSmall).orElseThrow()).contains("100.0 MiB", "430.0 MiB");
        assertThat(how(Optional.of(bare)).allocatorShare(tooSmall)).contains(MemoryBytes.ZERO);
        assertThat(bare.refusal(budget)).isEmpty();

        JsonNode unknown = cases.get(2);
        assertThat(unknown.path("overhead_known").booleanValue()).isFalse();
        Overhead assumed = OverheadEstimate.UNKNOWN.inForce(DEFAULT).orElseThrow();
        assertThat(assumed.provisional()).isTrue();
        assertThat(how(Optional.of(assumed)).allocatorShare(mib(20_000))).contains(mib(20_000 - 512));
    }

    private static RankEnforcement how(Optional<Overhead> overhead) {
        return new RankEnforcement(Optional.empty(), overhead, Optional.empty(), false, List.of());
    }

    private static JsonNode cases() throws IOException {
        try (InputStream json = OverheadEstimateTest.class.getResourceAsStream("/cases/C01/fraction.json")) {
            return new ObjectMapper().readTree(json);
        }
    }
}
