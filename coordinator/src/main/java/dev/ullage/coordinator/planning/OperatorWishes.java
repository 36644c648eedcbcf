package dev.ullage.coordinator.planning;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.Identity;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.OperatorRecord;
import dev.ullage.common.protocol.OperatorRecord.Drain;
import dev.ullage.common.protocol.OperatorRecord.Stamp;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * What operators asked for. Immutable. Of three kinds:
 *
 * <ul>
 *   <li>{@link StandingWishes}, which the workers keep: the newest record of them counts, whoever made it.
 *   <li>A wish for a reserve, which lasts until its device's ledger reports it.
 *   <li>What is learned from the ledgers, so that a restarted rank gets its predecessor's: shares that an older
 *       coordinator set without a record, and the policy that a rank itself asks for and the estimate it was started
 *       with, for the moment after its worker's restart until it has said them again.
 * </ul>
 */
public final class OperatorWishes {
    /** How long a job's wishes are kept after its last rank has left: longer than a launcher takes to restart it. */
    public static final Duration REMEMBER_JOB = Duration.ofHours(1);

    public static final OperatorWishes NONE = new OperatorWishes(
            Optional.empty(), StandingWishes.NONE, new TreeMap<>(), new TreeMap<>(), new TreeMap<>());

    private final Optional<OperatorRecord> record;
    private final StandingWishes standing;
    private final NavigableMap<DeviceId, Share> reserves;
    private final NavigableMap<JobId, Learned> jobs;
    /** When each of the jobs was last seen: another map, because it changes all the time, and no plan looks at it. */
    private final NavigableMap<JobId, Instant> seenAt;

    private OperatorWishes(
            Optional<OperatorRecord> record,
            StandingWishes standing,
            NavigableMap<DeviceId, Share> reserves,
            NavigableMap<JobId, Learned> jobs,
            NavigableMap<JobId, Instant> seenAt) {
        this.record = record;
        this.standing = standing;
        this.reserves = reserves;
        this.jobs = jobs;
        this.seenAt = seenAt;
    }

    /**
     * Of every job that is present or has a standing wish.
     *
     * @param shares of single ranks, by number; never changed once here
     * @param asking what single ranks ask for; never changed once here
     */
    private record Learned(NavigableMap<Integer, Share> shares, NavigableMap<Integer, Asked> asking) {
        static final Learned NOTHING = new Learned(new TreeMap<>(), new TreeMap<>());

        Learned with(int rank, Share share) {
            NavigableMap<Integer, Share> changed = new TreeMap<>(shares);
            changed.put(rank, share);
            return new Learned(changed, asking);
        }

        Learned with(int rank, Asked asked) {
            NavigableMap<Integer, Asked> changed = new TreeMap<>(asking);
            changed.put(rank, asked);
            return new Learned(shares, changed);
        }

        Learned absent() {
            return asking.isEmpty() ? this : new Learned(shares, new TreeMap<>());
        }
    }

    /**
     * Whether plans find the same in both, by the objects alone and so at no cost: what is the same need not be seen to
     * be.
     */
    boolean areSeenToBe(OperatorWishes other) {
        return Identity.isSame(standing, other.standing)
                && Identity.isSame(reserves, other.reserves)
                && Identity.isSame(jobs, other.jobs);
    }

    /** What a rank said of itself when it registered; there is at least one of the two. */
    private record Asked(Optional<String> policy, Optional<PlannedNeeds> planned) {
        static Asked of(GrantReport grant) {
            return new Asked(grant.policy(), grant.planned());
        }

        boolean isNothing() {
            return policy.isEmpty() && planned.isEmpty();
        }
    }

    /** The newest record there is, to be kept by every worker. */
    public Optional<OperatorRecord> record() {
        return record;
    }

    /** What the workers keep. */
    public StandingWishes standing() {
        return standing;
    }

    /** The reserve wished for a device, while its ledger does not report it. */
    public Optional<Share> reserve(DeviceId device) {
        return Optional.ofNullable(reserves.get(device));
    }

    /** The share of a rank, when anything is known of it. */
    public Optional<Share> share(RankId rank) {
        return standing.share(rank).or(() -> Optional.ofNullable(jobs.get(rank.job()))
                .flatMap(job -> Optional.ofNullable(job.shares().get(rank.rank()))));
    }

    /** The policy a rank asks for, by name, when anything is known of it. */
    public Optional<String> policy(RankId rank) {
        return asked(rank).flatMap(Asked::policy);
    }

    /** What a rank was estimated to need, when anything is known of it. */
    public Optional<PlannedNeeds> planned(RankId rank) {
        return asked(rank).flatMap(Asked::planned);
    }

    private Optional<Asked> asked(RankId rank) {
        return Optional.ofNullable(jobs.get(rank.job()))
                .flatMap(job -> Optional.ofNullable(job.asking().get(rank.rank())));
    }

    /** The devices with a wish for a reserve. */
    public List<DeviceId> devices() {
        return List.copyOf(reserves.keySet());
    }

    public OperatorWishes withReserve(Collection<DeviceId> devices, Share reserve) {
        NavigableMap<DeviceId, Share> changed = new TreeMap<>(reserves);
        devices.forEach(device -> changed.put(device, reserve));
        return new OperatorWishes(record, standing, changed, jobs, seenAt);
    }

    /** The ledger of this device reports the reserve wished for, or the device is gone. */
    public OperatorWishes withoutReserve(DeviceId device) {
        NavigableMap<DeviceId, Share> changed = new TreeMap<>(reserves);
        changed.remove(device);
        return new OperatorWishes(record, standing, changed, jobs, seenAt);
    }

    /** Every present and future rank of the job; what was said of single ranks before no longer counts. */
    public OperatorWishes withShare(JobId job, Share share, Instant now) {
        Learned known = job(job);
        return with(job, new Learned(new TreeMap<>(), known.asking()), now).standing(standing.withShare(job, share));
    }

    public OperatorWishes withShare(RankId rank, Share share, Instant now) {
        return with(rank.job(), now).standing(standing.withShare(rank, share));
    }

    /** @param limit empty: what its policy gives it */
    public OperatorWishes withLimit(RankId rank, Optional<MemoryBytes> limit, Instant now) {
        return with(rank.job(), now).standing(standing.withLimit(rank, limit));
    }

    /** @param policy empty: as the settings and the ranks say */
    public OperatorWishes withPolicy(JobId job, Optional<String> policy, Instant now) {
        return with(job, now).standing(standing.withPolicy(job, policy));
    }

    /** @param priority empty: as the settings say */
    public OperatorWishes withPriority(JobId job, Optional<Priority> priority, Instant now) {
        return with(job, now).standing(standing.withPriority(job, priority));
    }

    public OperatorWishes with(Drain drain) {
        return standing(standing.with(drain));
    }

    public OperatorWishes withoutDrain(NodeId node) {
        return standing(standing.withoutDrain(node));
    }

    /**
     * Takes over the share of each rank of which nothing is known yet, the policy that it asks for, and its estimate. A
     * grant without an order says nothing of the share, one without a policy nothing of that.
     */
    public OperatorWishes learning(Collection<GrantReport> grants, Instant now) {
        OperatorWishes wishes = this;
        for (GrantReport grant : grants) {
            RankId rank = grant.instance().rank();
            if (grant.target().isPresent() && wishes.share(rank).isEmpty()) {
                wishes = wishes.with(rank.job(), wishes.job(rank.job()).with(rank.rank(), grant.share()), now);
            }
            Asked asked = Asked.of(grant);
            if (!asked.isNothing() && !Optional.of(asked).equals(wishes.asked(rank))) {
                wishes = wishes.with(rank.job(), wishes.job(rank.job()).with(rank.rank(), asked), now);
            }
        }
        return wishes;
    }

    /** A worker kept this; the newest record counts, in whatever order they come. */
    public OperatorWishes adopting(OperatorRecord kept) {
        if (!kept.isNewerThan(stamp())) {
            return this;
        }
        return new OperatorWishes(Optional.of(kept), StandingWishes.of(kept), reserves, jobs, seenAt);
    }

    /** With a record of what stands now, when the newest one says something else. */
    public OperatorWishes stamped(CoordinatorToken token) {
        if (record.map(StandingWishes::of).orElse(StandingWishes.NONE).equals(standing)) {
            return this;
        }
        long sequence = 1 + record.map(known -> known.stamp().sequence()).orElse(0L);
        return new OperatorWishes(
                Optional.of(standing.record(new Stamp(token, sequence))), standing, reserves, jobs, seenAt);
    }

    public Optional<Stamp> stamp() {
        return record.map(OperatorRecord::stamp);
    }

    /** Another coordinator plans: what is left is what everybody keeps. */
    public OperatorWishes fenced() {
        return new OperatorWishes(
                record,
                record.map(StandingWishes::of).orElse(StandingWishes.NONE),
                new TreeMap<>(),
                new TreeMap<>(),
                new TreeMap<>());
    }

    /** Forgets jobs that had no rank for {@link #REMEMBER_JOB}. */
    public OperatorWishes remembering(Set<JobId> present, Instant now) {
        NavigableMap<JobId, Learned> kept = new TreeMap<>();
        NavigableMap<JobId, Instant> seen = new TreeMap<>();
        jobs.forEach((job, learned) -> {
            boolean isThere = present.contains(job);
            Instant last = isThere ? now : seenAt.getOrDefault(job, now);
            if (!last.plus(REMEMBER_JOB).isBefore(now)) {
                // A job of the same name that starts later says for itself what it asks for.
                kept.put(job, isThere ? learned : learned.absent());
                seen.put(job, last);
            }
        });
        for (JobId job : standing.jobs().keySet()) {
            if (!jobs.containsKey(job)) {
                kept.put(job, Learned.NOTHING);
                seen.put(job, now);
            }
        }
        return new OperatorWishes(
                record, standing.keeping(kept.keySet()), reserves, kept.equals(jobs) ? jobs : kept, seen);
    }

    private Learned job(JobId job) {
        return jobs.getOrDefault(job, Learned.NOTHING);
    }

    private OperatorWishes with(JobId job, Instant now) {
        return jobs.containsKey(job) ? this : with(job, Learned.NOTHING, now);
    }

    /** @param now from when an unknown job counts as seen */
    private OperatorWishes with(JobId job, Learned learned, Instant now) {
        NavigableMap<JobId, Learned> changed = new TreeMap<>(jobs);
        changed.put(job, learned);
        NavigableMap<JobId, Instant> seen = new TreeMap<>(seenAt);
        seen.putIfAbsent(job, now);
        return new OperatorWishes(record, standing, reserves, changed, seen);
    }

    private OperatorWishes standing(StandingWishes changed) {
        return new OperatorWishes(record, changed, reserves, jobs, seenAt);
    }
}
