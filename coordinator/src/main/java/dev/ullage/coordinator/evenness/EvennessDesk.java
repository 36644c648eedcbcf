package dev.ullage.coordinator.evenness;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.OomLevel;
import dev.ullage.common.model.RankId;
import dev.ullage.common.protocol.BatchShares;
import dev.ullage.common.protocol.ClusterEvent.About;
import dev.ullage.common.protocol.Evenness;
import dev.ullage.common.protocol.Evenness.FarDevice;
import dev.ullage.common.protocol.Evenness.JobEvenness;
import dev.ullage.common.protocol.Evenness.MoveSuggestion;
import dev.ullage.common.protocol.Evenness.PhaseSkew;
import dev.ullage.common.protocol.Evenness.ShareProposal;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.common.protocol.JobDirective.Cause;
import dev.ullage.common.protocol.JobDirective.Sizes;
import dev.ullage.config.EvennessSettings;
import dev.ullage.config.EvennessSettings.Mode;
import dev.ullage.coordinator.evenness.ShareRule.Advice;
import dev.ullage.coordinator.evenness.Streaks.Turn;
import dev.ullage.coordinator.events.Change;
import dev.ullage.coordinator.events.EventKind;
import dev.ullage.coordinator.oom.OomDesk.Standing;
import dev.ullage.coordinator.view.ClusterView;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Looks now and then at how evenly everything is used, and says or orders something only when several looks in a row
 * agree. One owner, not thread safe; soft: a new coordinator counts its looks anew. How often a job was ordered shares
 * stands in its directive, so that bound holds over all coordinators.
 *
 * <pre>
 *   each look, of each job:   gain at least gain-from? --looks in a row--> on: order, and count anew
 *                                                                          suggest: said once, until it is gone
 *   of the devices:           the same rank to the same device --looks in a row--> said once, until it is gone
 * </pre>
 */
public final class EvennessDesk {
    private final EvennessSettings settings;
    private final Streaks<JobId> uneven;
    private final Streaks<JobId> gains;
    private final Streaks<Target> targets;
    private Optional<Instant> lookedAt = Optional.empty();
    private Optional<Evenness> newest = Optional.empty();

    /** A rank and where it would be better off. */
    private record Target(RankId rank, DeviceId to) implements Comparable<Target> {
        private static final Comparator<Target> ORDER =
                Comparator.comparing(Target::rank).thenComparing(Target::to);

        @Override
        public int compareTo(Target other) {
            return ORDER.compare(this, other);
        }
    }

    public EvennessDesk(EvennessSettings settings) {
        this.settings = settings;
        this.uneven = new Streaks<>(settings.looks());
        this.gains = new Streaks<>(settings.looks());
        this.targets = new Streaks<>(settings.looks());
    }

    /** What the last look came to; empty: it is not looked at, or was not yet. */
    public Optional<Evenness> status() {
        return newest;
    }

    /** Another coordinator took over: what was counted is its business. */
    public void clear() {
        uneven.clear();
        gains.clear();
        targets.clear();
        lookedAt = Optional.empty();
        newest = Optional.empty();
    }

    /**
     * Looks, when a look is due.
     *
     * @param standings where the directives of a job stand
     */
    public Findings look(ClusterView view, Function<JobId, Standing> standings, Instant now) {
        boolean isDue =
                lookedAt.filter(at -> at.plus(settings.every()).isAfter(now)).isEmpty();
        if (settings.mode() == Mode.OFF || !isDue) {
            return Findings.NONE;
        }
        lookedAt = Optional.of(now);
        List<JobDirective> orders = new ArrayList<>();
        List<Change> changes = new ArrayList<>();
        List<JobEvenness> jobs = new ArrayList<>();
        NavigableSet<JobId> gone = uneven.keys();
        gone.addAll(gains.keys());
        for (JobLoad job : JobLoad.of(view)) {
            gone.remove(job.job());
            jobs.add(look(job, standings.apply(job.job()), orders, changes));
        }
        gone.forEach(uneven::forget);
        gone.forEach(gains::forget);
        List<LoadedDevice> devices = LoadedDevice.of(view);
        List<FarDevice> far = MoveRule.far(devices, settings.unevenFrom());
        newest = Optional.of(new Evenness(settings.mode().label(), jobs, far, moves(devices, changes)));
        return new Findings(orders, changes);
    }

    private JobEvenness look(JobLoad job, Standing standing, List<JobDirective> orders, List<Change> changes) {
        List<PhaseSkew> skews = Skews.of(job);
        noteSkew(job, skews, changes);
        Advice advice = ShareRule.advise(job, standing);
        boolean isWorthIt = advice.gain() >= Math.max(1, settings.gainFrom().basisPoints());
        Turn turn = gains.look(job.job(), isWorthIt);
        String explanation = advice.reason();
        Optional<ShareProposal> proposal = advice.proposal().filter(better -> isWorthIt);
        if (proposal.isPresent() && isOrdered(proposal.get(), standing)) {
            // Of a rank that does not cut its share into micro-batches nothing more is to be had.
            explanation = "ordered already, and it did not bring that: " + explanation;
            proposal = Optional.empty();
        } else if (proposal.isPresent() && standing.orders() >= settings.maxOrders()) {
            explanation =
                    "ordered shares " + Counts.of(standing.orders(), "time") + ", which is the most: " + explanation;
        } else if (proposal.isPresent() && gains.isHolding(job.job()) && settings.mode() == Mode.ON) {
            JobDirective order = order(job, standing, proposal.get(), explanation);
            orders.add(order);
            changes.add(Change.info(
                    EventKind.BATCH_SHARES_ORDERED,
                    about(job.job()),
                    job.job() + ": batch shares ordered (directive " + order.sequence() + "): " + explanation));
            gains.forget(job.job());
        } else if (proposal.isPresent() && turn == Turn.BEGAN) {
            changes.add(Change.info(
                    EventKind.BATCH_SHARES_SUGGESTED,
                    about(job.job()),
                    job.job() + ": nothing is sent, the mode is "
                            + settings.mode().label() + "; " + explanation));
        }
        return new JobEvenness(job.job(), uneven.isHolding(job.job()), skews, advice.samples(), proposal, explanation);
    }

    private static boolean isOrdered(ShareProposal proposal, Standing standing) {
        return standing.newest()
                .flatMap(JobDirective::shares)
                .filter(shares ->
                        shares.rounds() == proposal.rounds() && shares.samples().equals(proposal.samples()))
                .isPresent();
    }

    private void noteSkew(JobLoad job, List<PhaseSkew> skews, List<Change> changes) {
        Optional<PhaseSkew> most = Skews.uneven(job, skews, settings.unevenFrom());
        Turn turn = skews.isEmpty() ? Turn.SAME : uneven.look(job.job(), most.isPresent());
        if (turn == Turn.BEGAN) {
            PhaseSkew skew = most.orElseThrow();
            changes.add(Change.warning(
                    EventKind.UNEVEN,
                    about(job.job()),
                    "%s is uneven: in %s rank %d held up to %s, %d %% of the median of its ranks (%s)"
                            .formatted(
                                    job.job(), skew.phase(), skew.rank(), skew.most(), skew.percent(), skew.median())));
        } else if (turn == Turn.ENDED) {
            changes.add(Change.info(EventKind.EVEN, about(job.job()), job.job() + " is even again"));
        }
    }

    /** Its level and restart ask nothing of whoever does not know shares. */
    private static JobDirective order(JobLoad job, Standing standing, ShareProposal proposal, String reason) {
        long sequence = standing.sequence() + 1;
        long step = job.ranks().stream()
                .flatMapToLong(rank -> rank.step().stream())
                .max()
                .orElse(0);
        return new JobDirective(
                job.job(),
                sequence,
                step,
                OomLevel.LIMIT,
                standing.newest().map(JobDirective::sizes).orElse(Sizes.AS_SET),
                false,
                new Cause(
                        0,
                        Optional.empty(),
                        standing.newest().map(known -> known.cause().done()).orElse(List.of()),
                        reason),
                Optional.of(new BatchShares(sequence, standing.orders() + 1, proposal.rounds(), proposal.samples())));
    }

    private List<MoveSuggestion> moves(List<LoadedDevice> devices, List<Change> changes) {
        List<MoveSuggestion> shown = new ArrayList<>();
        NavigableSet<Target> missing = targets.keys();
        for (MoveSuggestion move : MoveRule.suggest(devices, settings.unevenFrom(), settings.gainFrom())) {
            Target target = new Target(move.rank(), move.to());
            missing.remove(target);
            if (targets.look(target, true) == Turn.BEGAN) {
                changes.add(Change.info(
                        EventKind.MOVE_SUGGESTED,
                        new About(
                                Optional.empty(),
                                Optional.of(move.from()),
                                Optional.of(move.rank().job()),
                                OptionalInt.of(move.rank().rank())),
                        "suggestion, nothing is moved: " + move.text()));
            }
            if (targets.isHolding(target)) {
                shown.add(move);
            }
        }
        new TreeSet<>(missing).forEach(target -> targets.look(target, false));
        return shown;
    }

    private static About about(JobId job) {
        return new About(Optional.empty(), Optional.empty(), Optional.of(job), OptionalInt.empty());
    }
}
