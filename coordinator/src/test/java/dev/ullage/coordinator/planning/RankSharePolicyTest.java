package dev.ullage.coordinator.planning;

import static dev.ullage.coordinator.Fixtures.DEVICE;
import static dev.ullage.coordinator.Fixtures.gib;
import static dev.ullage.coordinator.Fixtures.mib;
import static dev.ullage.coordinator.Fixtures.rank;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class RankSharePolicyTest {
    private static final MemoryBytes NONE = MemoryBytes.ZERO;

    private static Shares share(BudgetTerms terms, Share... shares) {
        List<RankRequest> ranks = IntStream.range(0, shares.length)
                .mapToObj(number -> new RankRequest(rank(number), shares[number]))
                .toList();
        return new RankSharePolicy().share(new PlanningInput(DEVICE, terms, ranks));
    }

    private static Share percent(int percent) {
        return Share.ofPercent(percent);
    }

    static Stream<Arguments> golden() {
        return Stream.of(
                // allocatable, reserve, foreign, ranks, limit of each in bytes
                Arguments.of(gib(80), percent(20), NONE, 1, gib(64).value()),
                Arguments.of(gib(80), percent(20), NONE, 2, gib(32).value()),
                Arguments.of(gib(80), percent(20), NONE, 3, 22_906_492_245L),
                Arguments.of(gib(80), percent(20), gib(4), 1, gib(60).value()),
                Arguments.of(gib(80), percent(20), gib(4), 2, gib(30).value()),
                Arguments.of(gib(80), percent(20), gib(80), 1, 0L),
                Arguments.of(gib(80), percent(0), NONE, 1, gib(80).value()),
                Arguments.of(gib(80), percent(100), NONE, 1, 0L),
                // a world of 8 ranks on one device of 12288 MiB: 1228.8 MiB each
                Arguments.of(mib(12_288), percent(20), NONE, 8, 1_288_490_188L),
                // each division rounds down: 10 bytes x 0.8 = 8, over 3 ranks = 2
                Arguments.of(MemoryBytes.of(11), percent(20), NONE, 3, 2L));
    }

    @ParameterizedTest
    @MethodSource("golden")
    void everyRankGetsTheSamePartRoundedDown(
            MemoryBytes allocatable, Share reserve, MemoryBytes foreign, int ranks, long limit) {
        BudgetTerms terms = new BudgetTerms(allocatable, reserve, foreign);

        Shares shares = share(
                terms, IntStream.range(0, ranks).mapToObj(rank -> Share.ALL).toArray(Share[]::new));

        assertThat(shares.ranks())
                .hasSize(ranks)
                .allSatisfy(share -> assertThat(share.limit().value()).isEqualTo(limit));
        assertThat(Math.multiplyExact(limit, ranks))
                .isLessThanOrEqualTo(terms.budget().value());
    }

    @Test
    void whatTheOperatorTakesFromOneRankIsNotGivenToTheOthers() {
        Shares shares = share(new BudgetTerms(gib(80), percent(20), NONE), percent(50), Share.ALL, percent(0));

        assertThat(shares.ranks())
                .extracting(share -> share.limit().value())
                .containsExactly(11_453_246_122L, 22_906_492_245L, 0L);
    }

    @Test
    void aDeviceWithoutRanksHasNoShares() {
        assertThat(share(new BudgetTerms(gib(80), percent(20), NONE)).ranks()).isEmpty();
    }

    @Test
    void theReasonNamesTheNumbersItCameFrom() {
        BudgetTerms plain = new BudgetTerms(gib(80), percent(20), NONE);
        BudgetTerms shared = new BudgetTerms(gib(80), percent(20), gib(4));

        assertThat(share(plain, Share.ALL).ranks().get(0).reason().text())
                .isEqualTo("80.0 GiB less reserve 20% over 1 rank is 64.0 GiB");
        assertThat(share(shared, percent(50), Share.ALL).ranks().get(0).reason().text())
                .isEqualTo("80.0 GiB less reserve 20% over 2 ranks is 32.0 GiB, foreign memory of 4.0 GiB leaves"
                        + " 30.0 GiB, of which the operator left it 50%");
    }
}
