package dev.ullage.worker.enforcement;

import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankEnforcement.WhyNot;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Which mechanism holds a rank to its limit, and why none that would hold it better. Pure: what is possible is found
 * out elsewhere and given as facts. A mechanism without a fact is never taken for possible.
 */
public final class Ladder {
    /** From the one that covers most of a process and can be changed live to the one that only warns. */
    static final List<EnforcedBy> RUNGS = List.of(
            EnforcedBy.DRIVER,
            EnforcedBy.HAMI_CORE,
            EnforcedBy.TORCH,
            EnforcedBy.ALLOCATOR,
            EnforcedBy.MPS,
            EnforcedBy.ENV,
            EnforcedBy.ADVISORY);

    private Ladder() {}

    /** What was found out about one mechanism for one rank. */
    public sealed interface Fact {}

    /**
     * It holds the rank.
     *
     * @param limit what it says is in force, where it can be asked
     */
    public record Holds(Optional<MemoryBytes> limit) implements Fact {}

    /** @param why one sentence for people, without a full stop */
    public record NotPossible(String why) implements Fact {}

    /**
     * @param rung the highest mechanism that holds the rank
     * @param whyNotHigher one reason for each above it, highest first
     */
    public record Choice(EnforcedBy rung, Optional<MemoryBytes> inForce, List<WhyNot> whyNotHigher) {
        public Choice {
            whyNotHigher = List.copyOf(whyNotHigher);
        }
    }

    public static Choice choose(Map<EnforcedBy, Fact> facts) {
        List<WhyNot> whyNot = new ArrayList<>();
        for (EnforcedBy rung : RUNGS) {
            Fact fact = facts.getOrDefault(rung, new NotPossible("not looked into yet"));
            if (fact instanceof Holds holds) {
                return new Choice(rung, holds.limit(), whyNot);
            }
            if (rung != EnforcedBy.ADVISORY && fact instanceof NotPossible not) {
                whyNot.add(new WhyNot(rung, not.why()));
            }
        }
        return new Choice(EnforcedBy.ADVISORY, Optional.empty(), whyNot);
    }

    /**
     * The facts about the mechanisms inside a rank, from what the rank itself says.
     *
     * @param said by its newest confirmation
     * @param framework name and version, where it told
     */
    public static Map<EnforcedBy, Fact> insideTheRank(EnforcedBy said, Optional<String> framework) {
        Map<EnforcedBy, Fact> facts = new EnumMap<>(EnforcedBy.class);
        facts.put(EnforcedBy.TORCH, new NotPossible(whyNotTorch(framework)));
        facts.put(
                EnforcedBy.ALLOCATOR,
                new NotPossible("it has no allocator that asks the client before it allocates (ullage.allocator)"));
        facts.put(EnforcedBy.ENV, new NotPossible("its framework was given no limit at its start"));
        // Only these are the rank's to say: whether a driver or a library holds it, is for its worker to find out.
        facts.computeIfPresent(said, (rung, not) -> new Holds(Optional.empty()));
        return facts;
    }

    private static String whyNotTorch(Optional<String> framework) {
        if (framework.isEmpty()) {
            return "it has not said that it runs torch";
        }
        return framework.get().startsWith("torch")
                ? "its torch is not held to it: ullage.torch.attach is not called, or no model is on a CUDA device"
                : "it runs " + framework.get() + ", not torch";
    }
}
