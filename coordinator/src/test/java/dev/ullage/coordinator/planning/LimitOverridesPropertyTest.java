package dev.ullage.coordinator.planning;

import static dev.ullage.coordinator.Fixtures.rank;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.Share;
import dev.ullage.config.JobTerms;
import dev.ullage.coordinator.planning.DevicePlan.PlannedLimit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** What an operator sets for some ranks never breaks the budget and never takes anything from another. */
class LimitOverridesPropertyTest {
    private final List<PlannedLimit> byPolicy = new ArrayList<>();
    private final List<RankRequest> ranks = new ArrayList<>();

    private MemoryBytes some(Random random, int count) {
        byPolicy.clear();
        ranks.clear();
        MemoryBytes sum = MemoryBytes.ZERO;
        for (int i = 0; i < count; i++) {
            MemoryBytes limit = MemoryBytes.of(random.nextInt(1_000));
            Optional<MemoryBytes> set =
                    random.nextBoolean() ? Optional.of(MemoryBytes.of(random.nextInt(3_000))) : Optional.empty();
            byPolicy.add(new PlannedLimit(rank(i), PhaseLimits.uniform(limit), Share.ALL, new PlanReason("by policy")));
            ranks.add(new RankRequest(
                    rank(i),
                    Share.ALL,
                    JobTerms.defaults(),
                    RankObserved.NOTHING,
                    Optional.empty(),
                    set,
                    Optional.empty()));
            sum = sum.plus(limit);
        }
        return sum.plus(MemoryBytes.of(random.nextInt(2_000)));
    }

    private static MemoryBytes sum(List<PlannedLimit> limits) {
        return limits.stream().map(limit -> limit.limits().max()).reduce(MemoryBytes.ZERO, MemoryBytes::plus);
    }

    @Property
    void nobodyLosesAndTheBudgetHolds(@ForAll long seed, @ForAll @IntRange(min = 1, max = 8) int count) {
        Random random = new Random(seed);
        MemoryBytes budget = some(random, count);

        List<PlannedLimit> set = LimitOverrides.apply(byPolicy, ranks, budget);

        assertThat(sum(set).isMoreThan(budget)).isFalse();
        for (int i = 0; i < count; i++) {
            MemoryBytes before = byPolicy.get(i).limits().max();
            MemoryBytes after = set.get(i).limits().max();
            Optional<MemoryBytes> asked = ranks.get(i).limit();
            assertThat(set.get(i).instance()).isEqualTo(rank(i));
            if (asked.isEmpty()) {
                assertThat(set.get(i)).isEqualTo(byPolicy.get(i));
            } else {
                assertThat(after.isMoreThan(asked.get())).isFalse();
                assertThat(after.max(asked.get().min(before))).isEqualTo(after);
            }
        }
    }

    /** What is cut is cut for want of room, not by chance: with that much more budget it would be there. */
    @Property
    void nothingIsHeldBackWhileThereIsRoom(@ForAll long seed, @ForAll @IntRange(min = 1, max = 8) int count) {
        MemoryBytes budget = some(new Random(seed), count);
        List<PlannedLimit> set = LimitOverrides.apply(byPolicy, ranks, budget);
        boolean isCut = false;
        for (int i = 0; i < count; i++) {
            isCut |= ranks.get(i).limit().isPresent()
                    && ranks.get(i).limit().get().isMoreThan(set.get(i).limits().max());
        }
        if (isCut) {
            assertThat(sum(set)).isEqualTo(budget);
        }
    }
}
