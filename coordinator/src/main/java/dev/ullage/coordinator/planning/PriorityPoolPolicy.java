package dev.ullage.coordinator.planning;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.Weight;
import dev.ullage.config.PolicySettings.PriorityPool;
import java.util.Optional;

/**
 * {@code request = floor(model size x weight of the priority) + base}. When not all requests fit, the weights say who
 * gets how much (weighted max-min), nobody more than its request. What nobody asks for stays free.
 */
public final class PriorityPoolPolicy implements LimitPolicy {
    private final PriorityPool settings;

    public PriorityPoolPolicy(PriorityPool settings) {
        this.settings = settings;
    }

    @Override
    public Shares share(PlanningInput input) {
        return new Shares(Claim.settle(
                input.ranks().stream().map(rank -> claim(rank, input)).toList(), input));
    }

    private Claim claim(RankRequest rank, PlanningInput input) {
        Priority priority = rank.terms().priority();
        Weight weight = settings.weight(priority);
        Optional<MemoryBytes> modelSize = rank.terms().modelSize();
        if (modelSize.isEmpty()) {
            return new Claim(
                    rank,
                    input.equalPart(),
                    weight.basisPoints(),
                    "no setting says its model size: asks for an equal part of %s, with priority %s"
                            .formatted(input.equalPart(), priority));
        }
        MemoryBytes request = weight.of(modelSize.get()).plus(settings.base());
        return new Claim(
                rank,
                request,
                weight.basisPoints(),
                "model of %s x %s (priority %s) + %s asks for %s"
                        .formatted(modelSize.get(), weight, priority, settings.base(), request));
    }
}
