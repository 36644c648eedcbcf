package dev.ullage.worker.enforcement;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankEnforcement.WhyNot;
import dev.ullage.worker.enforcement.Ladder.Choice;
import dev.ullage.worker.enforcement.Ladder.Fact;
import dev.ullage.worker.enforcement.Ladder.Holds;
import dev.ullage.worker.enforcement.Ladder.NotPossible;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class LadderTest {
    @Test
    void theHighestThatHoldsIsTakenAndEachAboveItSaysWhyNot() {
        Map<EnforcedBy, Fact> facts =
                new EnumMap<>(Ladder.insideTheRank(EnforcedBy.TORCH, Optional.of("torch 2.10.0")));
        facts.put(EnforcedBy.DRIVER, new NotPossible("the driver is too old"));

        Choice choice = Ladder.choose(facts);

        assertThat(choice.rung()).isEqualTo(EnforcedBy.TORCH);
        assertThat(choice.whyNotHigher())
                .containsExactly(
                        new WhyNot(EnforcedBy.DRIVER, "the driver is too old"),
                        new WhyNot(EnforcedBy.HAMI_CORE, "not looked into yet"));
    }

    @Test
    void whatWasReadBackIsPartOfTheChoice() {
        Holds hami = new Holds(Optional.of(MemoryBytes.ofGibibytes(3)));

        Choice choice = Ladder.choose(Map.of(EnforcedBy.HAMI_CORE, hami));

        assertThat(choice.rung()).isEqualTo(EnforcedBy.HAMI_CORE);
        assertThat(choice.inForce()).contains(MemoryBytes.ofGibibytes(3));
    }

    @Test
    void aRankCannotSayThatTheDriverHoldsIt() {
        Map<EnforcedBy, Fact> facts = Ladder.insideTheRank(EnforcedBy.DRIVER, Optional.empty());

        assertThat(Ladder.choose(facts).rung()).isEqualTo(EnforcedBy.ADVISORY);
    }

    @Test
    void aRankOfAnotherFrameworkIsNotToldToAttachTorch() {
        assertThat(Ladder.insideTheRank(EnforcedBy.ENV, Optional.of("jax 0.4.30")))
                .containsEntry(EnforcedBy.TORCH, new NotPossible("it runs jax 0.4.30, not torch"));
    }

    @Property
    void noRungIsClaimedWithoutAFactAndNoneIsLeftOut(@ForAll Set<EnforcedBy> holding) {
        Map<EnforcedBy, Fact> facts = new EnumMap<>(EnforcedBy.class);
        holding.forEach(rung -> facts.put(rung, new Holds(Optional.empty())));

        Choice choice = Ladder.choose(facts);

        assertThat(choice.rung() == EnforcedBy.ADVISORY || holding.contains(choice.rung()))
                .isTrue();
        int place = Ladder.RUNGS.indexOf(choice.rung());
        assertThat(choice.whyNotHigher().stream().map(WhyNot::rung).toList())
                .isEqualTo(Ladder.RUNGS.subList(0, place))
                .noneMatch(holding::contains);
        assertThat(Ladder.RUNGS).containsExactlyInAnyOrder(EnforcedBy.values());
    }
}
