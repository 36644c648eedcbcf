package dev.ullage.coordinator.planning;

import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.OperatorRecord;
import dev.ullage.common.protocol.OperatorRecord.Drain;
import dev.ullage.common.protocol.OperatorRecord.JobWish;
import dev.ullage.common.protocol.OperatorRecord.RankWish;
import dev.ullage.common.protocol.OperatorRecord.Stamp;
import dev.ullage.common.protocol.ToOperator.Wishes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * What operators asked for and no ledger holds: the content of an {@link OperatorRecord}, to be looked up and changed.
 * Immutable. It outlives the coordinator: the workers keep it.
 *
 * @param drains by node
 * @param jobs by job; none of them empty
 */
public record StandingWishes(NavigableMap<NodeId, Drain> drains, NavigableMap<JobId, JobWish> jobs) {
    public static final StandingWishes NONE = new StandingWishes(new TreeMap<>(), new TreeMap<>());

    public StandingWishes {
        drains = Collections.unmodifiableNavigableMap(new TreeMap<>(drains));
        jobs = Collections.unmodifiableNavigableMap(new TreeMap<>(jobs));
    }

    static StandingWishes of(OperatorRecord record) {
        NavigableMap<NodeId, Drain> drains = new TreeMap<>();
        record.drains().forEach(drain -> drains.put(drain.node(), drain));
        NavigableMap<JobId, JobWish> jobs = new TreeMap<>();
        record.jobs().forEach(job -> jobs.put(job.job(), job));
        return new StandingWishes(drains, jobs);
    }

    OperatorRecord record(Stamp stamp) {
        return new OperatorRecord(stamp, List.copyOf(drains.values()), List.copyOf(jobs.values()));
    }

    /** For people. */
    public Wishes status() {
        return new Wishes(List.copyOf(drains.values()), List.copyOf(jobs.values()));
    }

    /** The nodes on which nothing new is to be placed. */
    public NavigableSet<NodeId> draining() {
        return drains.navigableKeySet();
    }

    /** The share of a rank: its own, or that of every rank of its job. */
    Optional<Share> share(RankId rank) {
        return rank(rank).flatMap(RankWish::share).or(() -> job(rank.job()).flatMap(JobWish::share));
    }

    Optional<MemoryBytes> limit(RankId rank) {
        return rank(rank).flatMap(RankWish::limit);
    }

    Optional<String> policy(JobId job) {
        return job(job).flatMap(JobWish::policy);
    }

    Optional<Priority> priority(JobId job) {
        return job(job).flatMap(JobWish::priority);
    }

    private Optional<JobWish> job(JobId job) {
        return Optional.ofNullable(jobs.get(job));
    }

    private Optional<RankWish> rank(RankId rank) {
        return job(rank.job()).stream()
                .flatMap(job -> job.ranks().stream())
                .filter(one -> one.rank() == rank.rank())
                .findFirst();
    }

    StandingWishes with(Drain drain) {
        NavigableMap<NodeId, Drain> changed = new TreeMap<>(drains);
        changed.put(drain.node(), drain);
        return new StandingWishes(changed, jobs);
    }

    StandingWishes withoutDrain(NodeId node) {
        NavigableMap<NodeId, Drain> changed = new TreeMap<>(drains);
        changed.remove(node);
        return new StandingWishes(changed, jobs);
    }

    /** For every rank: what was said of the shares of single ranks before no longer counts. */
    StandingWishes withShare(JobId job, Share share) {
        return changing(job, old -> {
            List<RankWish> ranks = old.ranks().stream()
                    .map(rank -> new RankWish(rank.rank(), Optional.empty(), rank.limit()))
                    .toList();
            return new JobWish(job, Optional.of(share), old.policy(), old.priority(), ranks);
        });
    }

    StandingWishes withShare(RankId rank, Share share) {
        return changing(rank, old -> new RankWish(rank.rank(), Optional.of(share), old.limit()));
    }

    StandingWishes withLimit(RankId rank, Optional<MemoryBytes> limit) {
        return changing(rank, old -> new RankWish(rank.rank(), old.share(), limit));
    }

    StandingWishes withPolicy(JobId job, Optional<String> policy) {
        return changing(job, old -> new JobWish(job, old.share(), policy, old.priority(), old.ranks()));
    }

    StandingWishes withPriority(JobId job, Optional<Priority> priority) {
        return changing(job, old -> new JobWish(job, old.share(), old.policy(), priority, old.ranks()));
    }

    StandingWishes keeping(Set<JobId> kept) {
        NavigableMap<JobId, JobWish> rest = new TreeMap<>(jobs);
        return rest.keySet().retainAll(kept) ? new StandingWishes(drains, rest) : this;
    }

    /** What there is more of than a record may hold. */
    Optional<String> excess() {
        int ranks = jobs.values().stream().mapToInt(job -> job.ranks().size()).sum();
        if (drains.size() > OperatorRecord.MAX_DRAINS) {
            return Optional.of("at most " + OperatorRecord.MAX_DRAINS + " nodes can be draining; undrain some");
        }
        if (jobs.size() > OperatorRecord.MAX_JOBS) {
            return Optional.of("at most " + OperatorRecord.MAX_JOBS
                    + " jobs can have wishes of their own; they are forgotten an hour after the job has ended");
        }
        return ranks > OperatorRecord.MAX_RANKS
                ? Optional.of("at most " + OperatorRecord.MAX_RANKS
                        + " ranks can have shares or limits of their own; set them for whole jobs")
                : Optional.empty();
    }

    private StandingWishes changing(RankId rank, UnaryOperator<RankWish> change) {
        return changing(rank.job(), old -> {
            NavigableMap<Integer, RankWish> ranks = new TreeMap<>();
            old.ranks().forEach(one -> ranks.put(one.rank(), one));
            ranks.merge(
                    rank.rank(),
                    change.apply(new RankWish(rank.rank(), Optional.empty(), Optional.empty())),
                    (known, fresh) -> change.apply(known));
            return new JobWish(rank.job(), old.share(), old.policy(), old.priority(), new ArrayList<>(ranks.values()));
        });
    }

    private StandingWishes changing(JobId job, UnaryOperator<JobWish> change) {
        JobWish changed = tidy(change.apply(job(job).orElseGet(
                        () -> new JobWish(job, Optional.empty(), Optional.empty(), Optional.empty(), List.of()))));
        NavigableMap<JobId, JobWish> all = new TreeMap<>(jobs);
        if (changed.share().isEmpty()
                && changed.policy().isEmpty()
                && changed.priority().isEmpty()
                && changed.ranks().isEmpty()) {
            all.remove(job);
        } else {
            all.put(job, changed);
        }
        return new StandingWishes(drains, all);
    }

    private static JobWish tidy(JobWish job) {
        List<RankWish> ranks = job.ranks().stream()
                .filter(rank -> rank.share().isPresent() || rank.limit().isPresent())
                .toList();
        return new JobWish(job.job(), job.share(), job.policy(), job.priority(), ranks);
    }
}
