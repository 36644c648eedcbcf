package dev.ullage.coordinator.planning;

import static dev.ullage.coordinator.Fixtures.DEVICE;
import static dev.ullage.coordinator.Fixtures.rank;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.model.PlannedNeeds.Need;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.Share;
import dev.ullage.config.FixedLimit;
import dev.ullage.config.JobTerms;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.PhaseShares;
import dev.ullage.config.PolicyName;
import dev.ullage.config.PolicySettings;
import dev.ullage.coordinator.planning.Shares.RankShare;
import dev.ullage.coordinator.planning.WaterFilling.Request;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;

/** What holds for every policy and any mix of them, on any device. */
class PolicyPropertyTest {
    private static final long MOST = 1L << 48;
    private static final LimitPolicy POLICY = new PolicyByJob(new LimitSettings(
            Share.NONE, MemoryBytes.of(7), Share.NONE, PhaseShares.defaults(), PolicySettings.defaults()));

    /** A rank without its number. */
    private record Rank(Share share, JobTerms terms, RankObserved observed, Optional<PlannedNeeds> planned) {}

    @Provide
    Arbitrary<MemoryBytes> amounts() {
        return Arbitraries.oneOf(
                        Arbitraries.longs().between(0, 200), Arbitraries.longs().between(0, MOST))
                .map(MemoryBytes::of);
    }

    @Provide
    Arbitrary<Share> shares() {
        return Arbitraries.integers().between(0, Share.ONE_IN_BASIS_POINTS).map(Share::new);
    }

    @Provide
    Arbitrary<BudgetTerms> devices() {
        return Combinators.combine(amounts(), shares(), amounts()).as(BudgetTerms::new);
    }

    @Provide
    Arbitrary<Rank> ranks() {
        Arbitrary<JobTerms> terms = Combinators.combine(
                        Arbitraries.of(PolicyName.values()),
                        Arbitraries.of(Priority.values()),
                        amounts().optional(),
                        Arbitraries.oneOf(amounts().map(FixedLimit::of), shares().map(FixedLimit::of)))
                .as(JobTerms::new);
        Arbitrary<RankObserved> observed = Combinators.combine(
                        Arbitraries.integers().between(1, 9).optional(),
                        Arbitraries.longs().between(0, 2_000).optional(),
                        amounts().optional(),
                        amounts().optional(),
                        Arbitraries.longs().between(0, 1))
                .as(PolicyPropertyTest::observed);
        return Combinators.combine(shares(), terms, observed, planned().optional())
                .as(Rank::new);
    }

    private Arbitrary<PlannedNeeds> planned() {
        Arbitrary<Need> need = amounts().list().ofSize(3).map(PolicyPropertyTest::need);
        return Combinators.combine(need, need, need, need, need, need, Arbitraries.of(true, false))
                .as((init, forward, backward, optimizer, steady, state, whole) -> new PlannedNeeds(
                        0,
                        1,
                        whole,
                        OptionalInt.empty(),
                        new PlannedNeeds.Phases(init, forward, backward, optimizer, steady),
                        state));
    }

    private static Need need(List<MemoryBytes> amounts) {
        List<MemoryBytes> sorted = amounts.stream().sorted().toList();
        return new Need(sorted.get(0), sorted.get(1), sorted.get(2), sorted.get(0));
    }

    private static RankObserved observed(
            Optional<Integer> world,
            Optional<Long> step,
            Optional<MemoryBytes> held,
            Optional<MemoryBytes> peak,
            long refusals) {
        return new RankObserved(
                world.map(OptionalInt::of).orElse(OptionalInt.empty()),
                step.map(OptionalLong::of).orElse(OptionalLong.empty()),
                held,
                peak,
                refusals);
    }

    @Provide
    Arbitrary<Request> requests() {
        return Combinators.combine(amounts(), Arbitraries.integers().between(1, 20_000))
                .as(Request::new);
    }

    private static List<RankRequest> numbered(List<Rank> ranks) {
        List<RankRequest> numbered = new ArrayList<>();
        for (Rank one : ranks) {
            numbered.add(new RankRequest(
                    rank(numbered.size()),
                    one.share(),
                    one.terms(),
                    one.observed(),
                    one.planned(),
                    Optional.empty(),
                    Optional.empty()));
        }
        return numbered;
    }

    private static List<RankShare> share(BudgetTerms device, List<RankRequest> ranks) {
        return POLICY.share(new PlanningInput(DEVICE, device, ranks)).ranks();
    }

    @Property
    void theLimitsOfADeviceAreNeverMoreThanItsBudget(
            @ForAll @From("devices") BudgetTerms device, @ForAll @Size(max = 9) List<@From("ranks") Rank> ranks) {
        List<RankShare> shares = share(device, numbered(ranks));

        assertThat(shares)
                .hasSameSizeAs(ranks)
                .allSatisfy(share -> assertThat(share.reason().text()).isNotBlank());
        assertThat(shares.stream().map(RankShare::limit).reduce(MemoryBytes.ZERO, MemoryBytes::plus))
                .isLessThanOrEqualTo(device.budget());
    }

    @Property
    void theOrderOfTheRanksChangesNoLimit(
            @ForAll @From("devices") BudgetTerms device,
            @ForAll @Size(max = 9) List<@From("ranks") Rank> ranks,
            @ForAll Random random) {
        List<RankRequest> ordered = numbered(ranks);
        List<RankRequest> shuffled = new ArrayList<>(ordered);
        Collections.shuffle(shuffled, random);

        assertThat(share(device, shuffled)).isEqualTo(share(device, ordered));
    }

    // But for a byte: a share of the larger device may round up to one more, which is then another rank's.
    @Property
    void aLargerDeviceGivesNoRankLess(
            @ForAll @From("devices") BudgetTerms device,
            @ForAll @From("amounts") MemoryBytes more,
            @ForAll @Size(max = 9) List<@From("ranks") Rank> ranks) {
        BudgetTerms larger = device.withMeasured(device.allocatable().plus(more), device.foreign());

        List<RankShare> before = share(device, numbered(ranks));
        List<RankShare> after = share(larger, numbered(ranks));

        for (int i = 0; i < before.size(); i++) {
            assertThat(after.get(i).limit())
                    .isGreaterThanOrEqualTo(before.get(i).limit().minusOrZero(MemoryBytes.of(ranks.size())));
        }
    }

    // Goal: weighted max-min. Method: who has less than it asks for has no less for its weight than anybody, to the
    // byte.
    @Property
    void nobodyCanHaveMoreUnlessSomebodyPoorerHasLess(
            @ForAll @Size(max = 9) List<@From("requests") Request> requests, @ForAll @LongRange(max = MOST) long pool) {
        List<MemoryBytes> parts = WaterFilling.fill(requests, MemoryBytes.of(pool));

        for (int i = 0; i < parts.size(); i++) {
            assertThat(parts.get(i)).isLessThanOrEqualTo(requests.get(i).amount());
            if (requests.get(i).amount().isMoreThan(parts.get(i))) {
                BigInteger more = BigInteger.valueOf(parts.get(i).value() + 1);
                BigInteger weight = BigInteger.valueOf(requests.get(i).weight());
                for (int j = 0; j < parts.size(); j++) {
                    BigInteger other = BigInteger.valueOf(parts.get(j).value());
                    assertThat(other.multiply(weight))
                            .isLessThanOrEqualTo(more.multiply(
                                    BigInteger.valueOf(requests.get(j).weight())));
                }
            }
        }
    }

    @Property
    void thePoolIsUsedUpOrEveryRequestIsMet(
            @ForAll @Size(min = 1, max = 9) List<@From("requests") Request> requests,
            @ForAll @LongRange(max = MOST) long pool) {
        long given = WaterFilling.fill(requests, MemoryBytes.of(pool)).stream()
                .mapToLong(MemoryBytes::value)
                .sum();
        long asked =
                requests.stream().mapToLong(request -> request.amount().value()).sum();

        if (asked <= pool) {
            assertThat(given).isEqualTo(asked);
        } else {
            assertThat(given).isBetween(pool - requests.size() + 1, pool);
        }
    }
}
