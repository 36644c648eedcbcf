package dev.ullage.coordinator.evenness;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankWatch.Batch;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.BatchShares;
import dev.ullage.common.protocol.Evenness.ShareProposal;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.coordinator.oom.OomDesk.Standing;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * How the batch of a job would be shared out so that all ranks are equally far from what they can hold:
 *
 * <pre>
 *   per sample = (peak - base) / micro-batch, rounded up          base: held as the step began, and the gradients
 *   holds      = (limit - beside - base) / per sample             samples at once; never above what the user allows
 *   rounds     = as many as now; batch / sum(holds), rounded up, where a rank holds more than it can now
 *   share      = batch x holds / sum(holds)                       whole, by the largest remainder; 1 at least
 * </pre>
 *
 * <p>A share in {@code rounds} micro-batches is never more at once than the rank holds. Where there is nothing to be
 * gained, or something is not known, there is no proposal, and the reason says what.
 */
final class ShareRule {
    /** A rank's first steps are not like the others: the optimizer allocates its state in them. */
    static final int MIN_STEPS = 3;
    /** Shares of more ranks would be too long for one line to a rank. */
    static final int MAX_RANKS = 4096;

    private ShareRule() {}

    /** @param proposal what to share out, when it differs from now; whether it is worth an order is not said here */
    record Advice(Optional<ShareProposal> proposal, List<Integer> samples, int fullest, String reason) {
        static Advice none(String reason) {
            return new Advice(Optional.empty(), List.of(), 0, reason);
        }

        int gain() {
            return proposal.map(better -> better.fullestBasisPoints() - better.thenBasisPoints())
                    .orElse(0);
        }
    }

    /** What a rank can hold, worked out from what it said. */
    private record Holder(RankLoad load, Batch batch, MemoryBytes base, MemoryBytes perSample, MemoryBytes usable) {

        /** Samples at once. */
        long holds() {
            long byMemory = usable.minusOrZero(base).value() / perSample.value();
            return Math.min(Math.min(byMemory, Integer.MAX_VALUE), batch.most().orElse(Integer.MAX_VALUE));
        }

        int fillNow() {
            return fill(batch.microBatch());
        }

        int fill(long microBatch) {
            return Fill.basisPoints(base, perSample, microBatch, usable);
        }
    }

    static Advice advise(JobLoad job, Standing standing) {
        Optional<String> obstacle = obstacle(job, standing);
        return obstacle.isPresent() ? Advice.none(obstacle.get()) : share(job.ranks());
    }

    private static Optional<String> obstacle(JobLoad job, Standing standing) {
        List<RankLoad> ranks = job.ranks();
        if (ranks.stream().noneMatch(rank -> rank.batch().isPresent())) {
            return Optional.of("no rank takes batch shares");
        }
        if (!job.isWhole()) {
            int known = ranks.size();
            String some = job.worldSize().isPresent()
                    ? known + " of " + Counts.of(job.worldSize().getAsInt(), "rank")
                    : Counts.of(known, "rank");
            return Optional.of("%s %s known".formatted(some, Counts.word(known, "is", "are")));
        }
        if (ranks.size() == 1 || ranks.size() > MAX_RANKS) {
            return Optional.of("shares are for 2 to " + MAX_RANKS + " ranks");
        }
        List<Integer> without =
                numbers(ranks.stream().filter(rank -> rank.batch().isEmpty()).toList());
        if (!without.isEmpty()) {
            return Optional.of("ranks " + without + " do not say how they cut their batch");
        }
        if (ranks.stream().anyMatch(RankLoad::takesTurns)) {
            return Optional.of("it takes turns: what its ranks can hold is not their limit");
        }
        return unsettled(ranks, standing);
    }

    private static Optional<String> unsettled(List<RankLoad> ranks, Standing standing) {
        if (!standing.isQuiet()) {
            return Optional.of("its ranks have not all done what they were last directed to do");
        }
        long sequence = standing.sequence();
        List<Batch> batches =
                ranks.stream().map(rank -> rank.batch().orElseThrow()).toList();
        int size = batches.get(0).job();
        if (batches.stream().anyMatch(batch -> batch.sequence() != sequence)
                || ranks.stream().anyMatch(rank -> rank.steps() < MIN_STEPS)) {
            return Optional.of(
                    "fewer than " + MIN_STEPS + " steps of each rank were watched since its batch was last cut");
        }
        boolean isOne = batches.stream().allMatch(batch -> batch.job() == size)
                && batches.stream().mapToLong(Batch::samples).sum() == size;
        if (!isOne) {
            return Optional.of("its ranks do not agree on the batch of a step");
        }
        // Loaders draw ahead: for some steps a rank still has what it had before, of which nothing is to be learned.
        List<Integer> now = batches.stream().map(Batch::samples).toList();
        return standing.newest()
                .flatMap(JobDirective::shares)
                .map(BatchShares::samples)
                .filter(ordered -> isOf(ordered, batches.size(), size) && !ordered.equals(now))
                .map(ordered -> "the shares that were ordered (" + shown(ordered) + ") are not in force yet");
    }

    /** Shares of other ranks or another batch are of before the job was started anew, and its ranks do without. */
    private static boolean isOf(List<Integer> shares, int ranks, int size) {
        return shares.size() == ranks
                && shares.stream().mapToLong(Integer::longValue).sum() == size;
    }

    private static Advice share(List<RankLoad> ranks) {
        List<Holder> holders = new ArrayList<>();
        for (RankLoad rank : ranks) {
            Batch batch = rank.batch().orElseThrow();
            Optional<MemoryBytes> active = rank.activePeak();
            if (active.isEmpty() || batch.base().isEmpty() || rank.usable().isEmpty()) {
                return Advice.none("of rank " + rank.rank() + " its peak, what it keeps, or its limit is not known");
            }
            MemoryBytes base = batch.base().get();
            MemoryBytes added = active.get().minusOrZero(base);
            if (added.isZero()) {
                return Advice.none("rank " + rank.rank() + " holds no more in a step than before it");
            }
            MemoryBytes perSample = MemoryBytes.of((added.value() - 1) / batch.microBatch() + 1);
            Holder holder =
                    new Holder(rank, batch, base, perSample, rank.usable().get());
            if (holder.holds() < 1) {
                return Advice.none("rank %d cannot hold one sample: it keeps %s and %s for a sample, of %s"
                        .formatted(rank.rank(), base, perSample, holder.usable()));
            }
            holders.add(holder);
        }
        return share(holders, holders.get(0).batch().job());
    }

    private static Advice share(List<Holder> holders, int size) {
        List<Integer> now =
                holders.stream().map(holder -> holder.batch().samples()).toList();
        long sum = holders.stream().mapToLong(Holder::holds).sum();
        Holder fullest =
                holders.stream().max(Comparator.comparingInt(Holder::fillNow)).orElseThrow();
        int fill = fullest.fillNow();
        int rounds = rounds(holders, fill, (size - 1) / sum + 1);
        List<Integer> shares = proportional(holders.stream().map(Holder::holds).toList(), sum, size);
        int then = IntStream.range(0, shares.size())
                .map(rank -> holders.get(rank).fill(partOf(shares.get(rank), rounds)))
                .max()
                .orElseThrow();
        boolean fits = (long) rounds * sum >= size;
        if (!fits || then >= fill) {
            String reason = "the fullest rank is %d (%s), at %s of what it can hold: no other shares bring that down";
            return new Advice(
                    Optional.empty(),
                    now,
                    fill,
                    reason.formatted(fullest.load().rank(), fullest.load().place(), Fill.shown(fill)));
        }
        String reason = "batch %d as %s instead of %s, %s: the fullest rank is %d (%s), at %s of what it can"
                + " hold, and would be at %s or less";
        return new Advice(
                Optional.of(new ShareProposal(shares, rounds, fill, then)),
                now,
                fill,
                reason.formatted(
                        size,
                        shown(shares),
                        shown(now),
                        rounds == 1 ? "each at once" : "each in " + Counts.of(rounds, "micro-batch"),
                        fullest.load().rank(),
                        fullest.load().place(),
                        Fill.shown(fill),
                        Fill.shown(then)));
    }

    /** As many as now: more of them cost time, and are only for ranks that hold more than they can. */
    private static int rounds(List<Holder> holders, int fill, long needed) {
        int now = holders.stream()
                .mapToInt(holder ->
                        partOf(holder.batch().samples(), holder.batch().microBatch()))
                .max()
                .orElseThrow();
        return fill > Share.ONE_IN_BASIS_POINTS ? (int) Math.max(now, needed) : now;
    }

    /** The most samples at once of a share in so many parts. */
    static int partOf(int share, int rounds) {
        return (share - 1) / rounds + 1;
    }

    /**
     * Whole parts of {@code size} in the proportion of {@code holds}, each 1 or more.
     *
     * @param holds 1 or more each; {@code sum} is theirs
     * @param size as many as there are parts, or more
     */
    static List<Integer> proportional(List<Long> holds, long sum, int size) {
        int[] parts = new int[holds.size()];
        long[] rest = new long[holds.size()];
        int left = size;
        for (int i = 0; i < parts.length; i++) {
            long exact = size * holds.get(i);
            parts[i] = Math.toIntExact(exact / sum);
            rest[i] = exact % sum;
            left -= parts[i];
        }
        List<Integer> byRest = IntStream.range(0, parts.length)
                .boxed()
                .sorted(Comparator.comparingLong((Integer i) -> rest[i]).reversed())
                .toList();
        for (int i = 0; i < left; i++) {
            parts[byRest.get(i)]++;
        }
        for (int i = 0; i < parts.length; i++) {
            if (parts[i] == 0) {
                parts[i] = 1;
                parts[largest(parts)]--;
            }
        }
        return IntStream.of(parts).boxed().toList();
    }

    private static int largest(int[] parts) {
        int largest = 0;
        for (int i = 1; i < parts.length; i++) {
            largest = parts[i] > parts[largest] ? i : largest;
        }
        return largest;
    }

    private static List<Integer> numbers(List<RankLoad> ranks) {
        return ranks.stream().map(RankLoad::rank).toList();
    }

    /** The first few of many. */
    static String shown(List<Integer> numbers) {
        String first = numbers.stream().limit(16).map(String::valueOf).collect(Collectors.joining(", "));
        return numbers.size() > 16 ? first + ", ..." : first;
    }
}
