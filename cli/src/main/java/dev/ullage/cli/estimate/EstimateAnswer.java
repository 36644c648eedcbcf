package dev.ullage.cli.estimate;

import dev.ullage.cli.estimate.Fit.Verdict;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.planning.estimate.Advice;
import dev.ullage.coordinator.planning.estimate.Advice.Change;
import dev.ullage.coordinator.planning.estimate.Estimator;
import dev.ullage.coordinator.planning.estimate.RankEstimate;
import dev.ullage.coordinator.planning.estimate.Reading;
import java.util.List;
import java.util.Optional;

/**
 * Everything that {@code ullage estimate} says about a setup.
 *
 * @param capacities of the devices, in order; empty when none was given
 * @param limits what a rank may use of each
 * @param alone changes that save, when something may not fit
 * @param together the cheapest changes after which all fits; empty when nothing suffices or nothing is needed
 */
record EstimateAnswer(
        Reading reading,
        List<RankEstimate> stages,
        List<MemoryBytes> capacities,
        List<MemoryBytes> limits,
        List<Fit> ranks,
        List<Change> alone,
        Optional<List<Change>> together,
        int ranksPerNode) {

    static EstimateAnswer of(
            Reading reading, List<MemoryBytes> capacities, List<MemoryBytes> limits, int ranksPerNode) {
        List<RankEstimate> stages = Estimator.estimate(reading);
        List<Fit> ranks = Fit.of(reading, stages, limits);
        boolean tight = ranks.stream()
                .anyMatch(fit -> fit.verdict() == Verdict.MAY_FIT || fit.verdict() == Verdict.DOES_NOT_FIT);
        List<Change> alone = List.of();
        Optional<List<Change>> together = Optional.empty();
        if (tight) {
            MemoryBytes least = limits.stream().reduce(limits.get(0), MemoryBytes::min);
            alone = Advice.alone(reading, least);
            together = Advice.together(reading, least);
        }
        return new EstimateAnswer(reading, stages, capacities, limits, ranks, alone, together, ranksPerNode);
    }

    boolean fits() {
        return ranks.stream().noneMatch(fit -> fit.verdict() == Verdict.DOES_NOT_FIT);
    }

    /** Host memory of the fullest node: what its ranks offload. */
    MemoryBytes hostPerNode() {
        MemoryBytes most = stages.stream().map(RankEstimate::host).reduce(MemoryBytes.ZERO, MemoryBytes::max);
        int ranksThere = Math.min(ranksPerNode, ranks.size());
        return MemoryBytes.of(Math.multiplyExact(most.value(), (long) ranksThere));
    }
}
