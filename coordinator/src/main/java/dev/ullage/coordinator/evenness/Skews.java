package dev.ullage.coordinator.evenness;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.Evenness.PhaseSkew;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** How far the largest rank of a job is above the median, phase by phase. */
final class Skews {
    private Skews() {}

    /** Only of phases that every rank has told its peak of; none of a job of one rank. */
    static List<PhaseSkew> of(JobLoad job) {
        List<PhaseSkew> skews = new ArrayList<>();
        if (job.isWhole() && job.ranks().size() > 1) {
            for (Phase phase : Phase.values()) {
                of(job, phase).ifPresent(skews::add);
            }
        }
        return skews;
    }

    /** One rank's peak in a phase. */
    private record Peak(int rank, MemoryBytes bytes) {}

    private static Optional<PhaseSkew> of(JobLoad job, Phase phase) {
        List<Peak> peaks = job.ranks().stream()
                .flatMap(rank -> rank.peak(phase).map(bytes -> new Peak(rank.rank(), bytes)).stream())
                .sorted(Comparator.comparing(Peak::bytes)
                        .thenComparing(Comparator.comparingInt(Peak::rank).reversed()))
                .toList();
        if (peaks.size() < job.ranks().size()) {
            return Optional.empty();
        }
        Peak largest = peaks.get(peaks.size() - 1);
        MemoryBytes median = median(peaks);
        return median.isZero()
                ? Optional.empty()
                : Optional.of(new PhaseSkew(
                        phase, Fill.percent(largest.bytes(), median), largest.rank(), largest.bytes(), median));
    }

    private static MemoryBytes median(List<Peak> sorted) {
        long upper = sorted.get(sorted.size() / 2).bytes().value();
        long lower = sorted.get((sorted.size() - 1) / 2).bytes().value();
        return MemoryBytes.of(lower + (upper - lower) / 2);
    }

    /**
     * The phase that is most uneven, where that is as much as is called so. On devices of different sizes a rank that
     * holds more is not uneven for that: it must be so in what it can hold, too, where that is known of all.
     */
    static Optional<PhaseSkew> uneven(JobLoad job, List<PhaseSkew> skews, Share from) {
        return skews.stream()
                .filter(skew ->
                        isFar(skew.most().value(), skew.median().value(), from) && isFarInFill(job, skew.phase(), from))
                .max(Comparator.comparingInt(PhaseSkew::percent));
    }

    private static boolean isFarInFill(JobLoad job, Phase phase, Share from) {
        List<Integer> fills = job.ranks().stream()
                .flatMap(
                        rank -> rank
                                .usable()
                                .flatMap(usable -> rank.peak(phase).map(peak -> Fill.basisPoints(peak, usable)))
                                .stream())
                .sorted()
                .toList();
        return fills.size() < job.ranks().size()
                || isFar(fills.get(fills.size() - 1), fills.get((fills.size() - 1) / 2), from);
    }

    private static boolean isFar(long most, long median, Share from) {
        return Fill.basisPoints(MemoryBytes.of(most), MemoryBytes.of(median))
                >= Share.ONE_IN_BASIS_POINTS + from.basisPoints();
    }
}
