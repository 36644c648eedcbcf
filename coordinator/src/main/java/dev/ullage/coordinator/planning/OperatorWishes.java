package dev.ullage.coordinator.planning;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.GrantReport;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * What operators asked for and what the ledgers do not all say yet. Immutable and soft.
 *
 * <p>The ledgers hold the truth: a wish for a reserve lasts until its device reports it, and the shares of ranks are
 * learned from the grants, so that the next coordinator knows them and a restarted rank gets its predecessor's. What
 * only this object knows is the share of a job's future ranks; it is lost with the coordinator. The policy that a rank
 * asks for, and the estimate it was started with, are remembered for the moment after its worker's restart, until the
 * rank has said it again.
 */
public final class OperatorWishes {
    /** How long a job's shares are kept after its last rank has left: longer than a launcher takes to restart it. */
    public static final Duration REMEMBER_JOB = Duration.ofHours(1);

    public static final OperatorWishes NONE = new OperatorWishes(new TreeMap<>(), new TreeMap<>());

    private final NavigableMap<DeviceId, Share> reserves;
    private final NavigableMap<JobId, JobShares> jobs;

    private OperatorWishes(NavigableMap<DeviceId, Share> reserves, NavigableMap<JobId, JobShares> jobs) {
        this.reserves = reserves;
        this.jobs = jobs;
    }

    /**
     * @param all what every rank gets that has no share of its own
     * @param ranks shares of single ranks, by number; never changed once here
     * @param asking what single ranks ask for; never changed once here
     */
    private record JobShares(
            Optional<Share> all,
            NavigableMap<Integer, Share> ranks,
            NavigableMap<Integer, Asked> asking,
            Instant seenAt) {
        Optional<Share> of(int rank) {
            return Optional.ofNullable(ranks.get(rank)).or(() -> all);
        }

        JobShares with(int rank, Share share) {
            NavigableMap<Integer, Share> changed = new TreeMap<>(ranks);
            changed.put(rank, share);
            return new JobShares(all, changed, asking, seenAt);
        }

        JobShares with(int rank, Asked asked) {
            NavigableMap<Integer, Asked> changed = new TreeMap<>(asking);
            changed.put(rank, asked);
            return new JobShares(all, ranks, changed, seenAt);
        }

        JobShares absent() {
            return new JobShares(all, ranks, new TreeMap<>(), seenAt);
        }

        JobShares seen(Instant now) {
            return new JobShares(all, ranks, asking, now);
        }
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

    /** The reserve wished for a device, while its ledger does not report it. */
    public Optional<Share> reserve(DeviceId device) {
        return Optional.ofNullable(reserves.get(device));
    }

    /** The share of a rank, when anything is known of it. */
    public Optional<Share> share(RankId rank) {
        return Optional.ofNullable(jobs.get(rank.job())).flatMap(job -> job.of(rank.rank()));
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
        return new OperatorWishes(changed, jobs);
    }

    /** The ledger of this device reports the reserve wished for, or the device is gone. */
    public OperatorWishes withoutReserve(DeviceId device) {
        NavigableMap<DeviceId, Share> changed = new TreeMap<>(reserves);
        changed.remove(device);
        return new OperatorWishes(changed, jobs);
    }

    /** Every present and future rank of the job; what was said of single ranks before no longer counts. */
    public OperatorWishes withShare(JobId job, Share share, Instant now) {
        return with(
                job,
                new JobShares(Optional.of(share), new TreeMap<>(), job(job, now).asking(), now));
    }

    public OperatorWishes withShare(RankId rank, Share share, Instant now) {
        return with(rank.job(), job(rank.job(), now).with(rank.rank(), share));
    }

    /**
     * Takes over the share of each rank of which nothing is known yet, and the policy that it asks for. A grant without
     * an order says nothing of the share, one without a policy and an estimate nothing of those.
     */
    public OperatorWishes learning(Collection<GrantReport> grants, Instant now) {
        OperatorWishes wishes = this;
        for (GrantReport grant : grants) {
            RankId rank = grant.instance().rank();
            if (grant.target().isPresent() && wishes.share(rank).isEmpty()) {
                wishes = wishes.withShare(rank, grant.share(), now);
            }
            Asked asked = Asked.of(grant);
            if (!asked.isNothing() && !Optional.of(asked).equals(wishes.asked(rank))) {
                wishes = wishes.with(rank.job(), wishes.job(rank.job(), now).with(rank.rank(), asked));
            }
        }
        return wishes;
    }

    /** Forgets jobs that had no rank for {@link #REMEMBER_JOB}. */
    public OperatorWishes remembering(Set<JobId> present, Instant now) {
        NavigableMap<JobId, JobShares> kept = new TreeMap<>();
        jobs.forEach((job, shares) -> {
            if (present.contains(job)) {
                kept.put(job, shares.seen(now));
            } else if (!shares.seenAt().plus(REMEMBER_JOB).isBefore(now)) {
                // A job of the same name that starts later says for itself what it asks for.
                kept.put(job, shares.absent());
            }
        });
        return new OperatorWishes(reserves, kept);
    }

    private JobShares job(JobId job, Instant now) {
        return Optional.ofNullable(jobs.get(job))
                .orElseGet(() -> new JobShares(Optional.empty(), new TreeMap<>(), new TreeMap<>(), now));
    }

    private OperatorWishes with(JobId job, JobShares shares) {
        NavigableMap<JobId, JobShares> changed = new TreeMap<>(jobs);
        changed.put(job, shares);
        return new OperatorWishes(reserves, changed);
    }
}
