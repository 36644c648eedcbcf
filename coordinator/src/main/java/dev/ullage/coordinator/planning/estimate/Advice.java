package dev.ullage.coordinator.planning.estimate;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.planning.estimate.Kernels.Attention;
import dev.ullage.coordinator.planning.estimate.Kernels.Recompute;
import dev.ullage.coordinator.planning.estimate.Scheme.Offload;
import dev.ullage.coordinator.planning.estimate.Scheme.Optimizer;
import dev.ullage.coordinator.planning.estimate.Setup.Framework;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * Changes of a setup that save memory. Cheap before dear: what costs some communication, then what costs some
 * computation, then smaller batches, then the way to host memory, then what changes the numbers.
 */
public final class Advice {
    private Advice() {}

    /**
     * @param what in the fields' names, as in {@code recompute=full}
     * @param cost what is paid for it
     * @param saves on the rank that needs most, of the interval's upper end
     * @param upper the most that any rank will then need
     * @param fits every rank is then within the limit
     */
    public record Change(String what, String cost, MemoryBytes saves, MemoryBytes upper, boolean fits) {}

    private record Candidate(int price, String what, String cost, UnaryOperator<Setup> change) {
        String field() {
            return what.substring(0, what.indexOf('='));
        }
    }

    /** Each change alone that saves anything: those that suffice first, and among them the cheapest. */
    public static List<Change> alone(Reading reading, MemoryBytes limit) {
        MemoryBytes before = worst(reading);
        List<Change> changes = new ArrayList<>();
        for (Candidate candidate : candidates(reading.likely())) {
            Change change = change(candidate, reading, before, limit);
            if (!change.saves().isZero()) {
                changes.add(change);
            }
        }
        changes.sort(Comparator.comparing((Change change) -> !change.fits()));
        return List.copyOf(changes);
    }

    /** The cheapest change, pair or triple of changes after which all fits; empty when none suffices. */
    public static Optional<List<Change>> together(Reading reading, MemoryBytes limit) {
        List<Candidate> all = candidates(reading.likely());
        Optional<List<Candidate>> best = Optional.empty();
        for (int first = 0; first < all.size(); first++) {
            for (int second = first; second < all.size(); second++) {
                List<Candidate> pair =
                        second == first ? List.of(all.get(first)) : List.of(all.get(first), all.get(second));
                best = cheaper(best, pair, reading, limit);
                best = withThird(best, pair, all.subList(second + 1, all.size()), reading, limit);
            }
        }
        return best.map(candidates -> changes(candidates, reading, limit));
    }

    private static Optional<List<Candidate>> withThird(
            Optional<List<Candidate>> best,
            List<Candidate> pair,
            List<Candidate> others,
            Reading reading,
            MemoryBytes limit) {
        Optional<List<Candidate>> found = best;
        if (pair.size() == 2) {
            for (Candidate third : others) {
                found = cheaper(found, List.of(pair.get(0), pair.get(1), third), reading, limit);
            }
        }
        return found;
    }

    /** {@code wanted} when it costs less and suffices; no two changes of one field. */
    private static Optional<List<Candidate>> cheaper(
            Optional<List<Candidate>> best, List<Candidate> wanted, Reading reading, MemoryBytes limit) {
        boolean dearer = best.isPresent() && price(best.get()) <= price(wanted);
        long fields = wanted.stream().map(Candidate::field).distinct().count();
        if (dearer || fields < wanted.size()) {
            return best;
        }
        Reading changed = reading;
        for (Candidate candidate : wanted) {
            changed = apply(candidate, changed);
        }
        return worst(changed).isMoreThan(limit) ? best : Optional.of(wanted);
    }

    private static int price(List<Candidate> candidates) {
        return candidates.stream().mapToInt(Candidate::price).sum();
    }

    private static List<Change> changes(List<Candidate> candidates, Reading reading, MemoryBytes limit) {
        List<Change> changes = new ArrayList<>();
        Reading now = reading;
        for (Candidate candidate : candidates) {
            changes.add(change(candidate, now, worst(now), limit));
            now = apply(candidate, now);
        }
        return List.copyOf(changes);
    }

    private static Change change(Candidate candidate, Reading reading, MemoryBytes before, MemoryBytes limit) {
        MemoryBytes after = worst(apply(candidate, reading));
        return new Change(
                candidate.what(), candidate.cost(), before.minusOrZero(after), after, !after.isMoreThan(limit));
    }

    private static Reading apply(Candidate candidate, Reading reading) {
        return new Reading(
                candidate.change().apply(reading.likely()),
                reading.alternatives().stream().map(candidate.change()).toList(),
                reading.assumptions());
    }

    private static MemoryBytes worst(Reading reading) {
        return Estimator.estimate(reading).stream().map(RankEstimate::upper).reduce(MemoryBytes.ZERO, MemoryBytes::max);
    }

    private static List<Candidate> candidates(Setup setup) {
        List<Candidate> all = new ArrayList<>();
        addSharding(setup, all);
        addRecomputation(setup, all);
        int price = 50;
        for (int batch = setup.microBatch() / 2; batch > 0; batch /= 2) {
            int samples = batch;
            all.add(new Candidate(
                    price,
                    "micro-batch=" + samples,
                    "more and smaller kernels",
                    each -> each.withMicroBatch(Math.min(each.microBatch(), samples))));
            price += 5;
        }
        addOffloading(setup, all);
        if (setup.scheme().optimizer() == Optimizer.ADAM) {
            all.add(new Candidate(
                    80,
                    "optimizer=adam-8bit",
                    "coarser optimizer state",
                    each -> each.with(each.scheme().with(Optimizer.ADAM_8BIT))));
        }
        all.sort(Comparator.comparingInt(Candidate::price));
        return all;
    }

    private static void addSharding(Setup setup, List<Candidate> all) {
        Layout layout = setup.layout();
        if (layout.tensor() > 1 && !layout.sequenceParallel()) {
            all.add(new Candidate(
                    10,
                    "sp=true",
                    "hardly anything",
                    each -> each.with(each.layout().withSequenceParallel())));
        }
        for (int stage = setup.scheme().sharding() + 1; stage <= 3 && setup.sharers() > 1; stage++) {
            int next = stage;
            // Megatron-LM shards the optimizer's state, or all with its own FSDP.
            if (next != 2 || setup.framework() != Framework.MEGATRON) {
                String cost =
                        next < 3 ? "gradients are scattered, weights gathered" : "weights are gathered twice a step";
                all.add(new Candidate(
                        next < 3 ? 10 + 5 * next : 40,
                        "sharding=" + next,
                        cost,
                        each -> each.with(each.scheme().withSharding(next))));
            }
        }
        boolean divides = setup.model().heads() % (2 * layout.tensor()) == 0
                && setup.model().kvHeads() % (2 * layout.tensor()) == 0
                && setup.model().ffn() % (2L * layout.tensor()) == 0
                && layout.expert() == 1;
        boolean splits = setup.framework() == Framework.MEGATRON || setup.framework() == Framework.FSDP;
        if (splits && divides && layout.data() % 2 == 0) {
            all.add(new Candidate(
                    45,
                    "tp=" + 2 * layout.tensor() + " dp=" + layout.data() / 2,
                    "communication in every layer",
                    each -> each.with(each.layout().withTwiceTheTensor())));
        }
    }

    private static void addRecomputation(Setup setup, List<Candidate> all) {
        Kernels kernels = setup.kernels();
        if (kernels.attention() == Attention.UNFUSED) {
            all.add(new Candidate(
                    5,
                    "attention=flash",
                    "nothing",
                    each -> each.with(each.kernels().with(Attention.FLASH))));
        }
        if (kernels.recompute() == Recompute.NONE) {
            all.add(new Candidate(
                    30,
                    "recompute=selective",
                    "a few percent of computation",
                    each -> each.with(each.kernels().with(Recompute.SELECTIVE))));
        }
        if (kernels.recompute() != Recompute.FULL) {
            all.add(new Candidate(
                    60,
                    "recompute=full",
                    "a third of computation",
                    each -> each.with(each.kernels().with(Recompute.FULL))));
        }
    }

    private static void addOffloading(Setup setup, List<Candidate> all) {
        if (setup.scheme().offload() == Offload.NONE) {
            all.add(new Candidate(
                    70,
                    "offload=optimizer",
                    "the optimizer step runs on the host",
                    each -> each.with(each.scheme().with(Offload.OPTIMIZER))));
        }
        if (setup.scheme().offload() != Offload.ALL && setup.scheme().sharding() == 3) {
            all.add(new Candidate(
                    75,
                    "offload=all",
                    "weights cross the bus in every pass",
                    each -> each.with(each.scheme().with(Offload.ALL))));
        }
    }
}
