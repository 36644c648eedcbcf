package dev.ullage.coordinator.planning;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.OperatorRecord.Drain;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToOperator.NotKnown;
import dev.ullage.config.PolicyName;
import dev.ullage.coordinator.planning.DevicePlan.PlannedLimit;
import dev.ullage.coordinator.planning.PlanGuard.Rule;
import dev.ullage.coordinator.planning.PlanOutcome.Vetoed;
import dev.ullage.coordinator.view.ClusterView;
import dev.ullage.coordinator.view.DeviceView;
import dev.ullage.coordinator.view.NodeView;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Decides on what operators ask for. Refuses what names nothing known, and what would leave a rank less than the
 * minimum: a wish that no plan could carry out would be accepted and then wait for ever.
 */
public final class OperatorDesk {
    private final LimitPlanner planner;

    public OperatorDesk(LimitPlanner planner) {
        this.planner = planner;
    }

    /**
     * @param wishes as they are from now on; unchanged by a refusal
     * @param message what changes, or which rule refused it
     * @param notKnown what it is about, where there is no such thing
     */
    public record Ruling(boolean isAccepted, OperatorWishes wishes, String message, Optional<NotKnown> notKnown) {

        /** Of something that is there. */
        public Ruling(boolean isAccepted, OperatorWishes wishes, String message) {
            this(isAccepted, wishes, message, Optional.empty());
        }
    }

    /** @param device empty: every device known now; one that comes later has the reserve of its own ledger */
    public Ruling setReserve(Optional<DeviceId> device, Share reserve, Situation situation) {
        List<DeviceView> known = situation.view().devices();
        List<DeviceView> named = known.stream()
                .filter(one -> device.map(one.id()::equals).orElse(true))
                .toList();
        if (named.isEmpty()) {
            return device.map(one -> unknown(
                            situation,
                            "device",
                            one.value(),
                            known.stream().map(DeviceView::id).toList()))
                    .orElseGet(() -> refused(situation, "to change a reserve: no device is known"));
        }
        OperatorWishes wishes = situation
                .wishes()
                .withReserve(named.stream().map(DeviceView::id).toList(), reserve);
        String before = named.stream()
                .map(one ->
                        reserve(one, situation.wishes()).map(Share::toString).orElse("not known"))
                .distinct()
                .collect(Collectors.joining(", "));
        String of = named.size() == 1 ? named.get(0).id().toString() : Counts.of(named.size(), "device");
        return ruling(situation, wishes, "reserve of " + of + ": " + before + " -> " + reserve);
    }

    /** @param rank empty: every present and future rank of the job */
    public Ruling setShare(JobId job, OptionalInt rank, Share share, Situation situation) {
        List<RankId> ofJob = ranksOf(job, situation);
        if (ofJob.isEmpty()) {
            return unknown(situation, "job", job.value(), situation.view().jobs());
        }
        if (rank.isEmpty()) {
            OperatorWishes wishes = situation.wishes().withShare(job, share, situation.now());
            return ruling(situation, wishes, "share of every rank of " + job + " -> " + share);
        }
        Optional<RankId> named =
                ofJob.stream().filter(known -> known.rank() == rank.getAsInt()).findFirst();
        if (named.isEmpty()) {
            return unknown(situation, "rank", rank.getAsInt() + " of job " + job, ofJob);
        }
        OperatorWishes wishes = situation.wishes().withShare(named.get(), share, situation.now());
        return ruling(situation, wishes, "share of " + named.get() + " -> " + share);
    }

    /** @param policy empty: as the settings and the ranks themselves say */
    public Ruling setPolicy(JobId job, Optional<String> policy, Situation situation) {
        if (!situation.view().jobs().contains(job)) {
            return unknown(situation, "job", job.value(), situation.view().jobs());
        }
        List<String> policies =
                Arrays.stream(PolicyName.values()).map(PolicyName::label).toList();
        if (policy.isPresent() && !policies.contains(policy.get())) {
            return refused(situation, UnknownName.text("policy", policy.get(), policies));
        }
        OperatorWishes wishes = situation.wishes().withPolicy(job, policy, situation.now());
        String to = policy.orElse("as the settings and its ranks say");
        return ruling(
                situation,
                wishes,
                "policy of job %s: %s -> %s"
                        .formatted(
                                job, situation.wishes().standing().policy(job).orElse("none set"), to));
    }

    /** @param priority empty: as the settings say */
    public Ruling setPriority(JobId job, Optional<Priority> priority, Situation situation) {
        if (!situation.view().jobs().contains(job)) {
            return unknown(situation, "job", job.value(), situation.view().jobs());
        }
        OperatorWishes wishes = situation.wishes().withPriority(job, priority, situation.now());
        String before =
                situation.wishes().standing().priority(job).map(Priority::label).orElse("none set");
        String to = priority.map(Priority::label).orElse("as the settings say");
        return ruling(situation, wishes, "priority of job %s: %s -> %s".formatted(job, before, to));
    }

    /**
     * Refused, with the numbers, when the rank could not have all of it now: what it would be short of, others have.
     *
     * @param limit empty: what its policy gives it
     */
    public Ruling setLimit(RankId rank, Optional<MemoryBytes> limit, Situation situation) {
        List<RankId> ofJob = ranksOf(rank.job(), situation);
        if (ofJob.isEmpty()) {
            return unknown(
                    situation, "job", rank.job().value(), situation.view().jobs());
        }
        if (!ofJob.contains(rank)) {
            return unknown(situation, "rank", rank.rank() + " of job " + rank.job(), ofJob);
        }
        OperatorWishes wishes = situation.wishes().withLimit(rank, limit, situation.now());
        String before = situation
                .wishes()
                .standing()
                .limit(rank)
                .map(MemoryBytes::toString)
                .orElse("none set");
        String message = "limit of rank %s: %s -> %s"
                .formatted(rank, before, limit.map(MemoryBytes::toString).orElse("what its policy gives"));
        return limit.flatMap(asked -> shortfall(rank, asked, situation.withWishes(wishes)))
                .map(why -> refused(situation, message + ": " + why))
                .orElseGet(() -> ruling(situation, wishes, message));
    }

    /** Why a rank would not have all of the limit that is set for it. */
    private Optional<String> shortfall(RankId rank, MemoryBytes asked, Situation situation) {
        List<PlannedLimit> planned = planner.plan(situation).stream()
                .flatMap(outcome -> outcome.plan().limits().stream())
                .filter(limit -> limit.instance().rank().equals(rank))
                .toList();
        if (planned.isEmpty()) {
            return Optional.of("its device's ledger has not reported yet; ask again in a moment");
        }
        return planned.stream()
                .filter(limit -> asked.isMoreThan(limit.limits().max()))
                .findFirst()
                .map(limit -> "it can have " + limit.limits().max() + " now: " + limit.reason());
    }

    /** What is there stays and is planned as before; nothing new is to be placed there. */
    public Ruling drain(Drain drain, Situation situation) {
        if (situation.view().node(drain.node()).isEmpty()) {
            return unknownNode(drain.node(), situation);
        }
        int ranks = situation.view().ranksOn(drain.node());
        String why = drain.reason().map(reason -> " (" + reason + ")").orElse("");
        return ruling(
                situation,
                situation.wishes().with(drain),
                "node %s is draining%s%s: nothing new is placed there; %s there %s"
                        .formatted(
                                drain.node(),
                                why,
                                by(drain.by()),
                                Counts.of(ranks, "rank"),
                                Counts.word(ranks, "stays", "stay")));
    }

    public Ruling undrain(NodeId node, Optional<String> by, Situation situation) {
        Set<NodeId> draining = situation.wishes().standing().draining();
        if (draining.contains(node)) {
            return ruling(
                    situation,
                    situation.wishes().withoutDrain(node),
                    "node " + node + " takes new ranks again" + by(by));
        }
        return situation.view().node(node).isEmpty()
                ? unknownNode(node, situation)
                : refused(
                        situation,
                        "to undrain node " + node + ": it is not draining; draining: "
                                + (draining.isEmpty()
                                        ? "none"
                                        : draining.stream().map(NodeId::value).collect(Collectors.joining(", "))));
    }

    private static String by(Optional<String> by) {
        return by.map(name -> ", as " + name + " asked").orElse("");
    }

    private static Ruling unknownNode(NodeId node, Situation situation) {
        return unknown(
                situation,
                "node",
                node.value(),
                situation.view().nodes().stream().map(NodeView::node).toList());
    }

    private static List<RankId> ranksOf(JobId job, Situation situation) {
        return situation.view().ranks().stream()
                .filter(known -> known.job().equals(job))
                .toList();
    }

    /**
     * Nothing of what is wished changes: the ranks are asked once.
     *
     * @param rank empty: every rank that the job has now
     */
    public Ruling release(JobId job, OptionalInt rank, Situation situation) {
        List<RankId> ofJob = ranksOf(job, situation);
        if (ofJob.isEmpty()) {
            return unknown(situation, "job", job.value(), situation.view().jobs());
        }
        if (rank.isPresent() && ofJob.stream().noneMatch(known -> known.rank() == rank.getAsInt())) {
            return unknown(situation, "rank", rank.getAsInt() + " of job " + job, ofJob);
        }
        int asked = toRelease(job, rank, situation.view()).values().stream()
                .mapToInt(List::size)
                .sum();
        String whose = rank.isPresent() ? "rank " + job + "/" + rank.getAsInt() : "job " + job;
        if (asked == 0) {
            return refused(situation, "to ask " + whose + ": no process of it is connected to its worker");
        }
        return new Ruling(
                true,
                situation.wishes(),
                "%s: %s asked to give the cache back at the next change of phase"
                        .formatted(whose, Counts.of(asked, "process")));
    }

    /** The processes that can be asked for their caches, by worker: those that no sample says are not connected. */
    public static NavigableMap<NodeId, List<RankInstance>> toRelease(JobId job, OptionalInt rank, ClusterView view) {
        NavigableMap<NodeId, List<RankInstance>> found = new TreeMap<>();
        for (DeviceView device : view.devices()) {
            Set<RankInstance> silent = device.sample().stream()
                    .flatMap(heard -> heard.message().ranks().stream())
                    .filter(sample -> !sample.connected())
                    .map(RankSample::instance)
                    .collect(Collectors.toCollection(TreeSet::new));
            device.report().stream()
                    .flatMap(heard -> heard.message().ledger().grants().stream())
                    .map(GrantReport::instance)
                    .filter(instance -> instance.rank().job().equals(job) && !silent.contains(instance))
                    .filter(instance -> rank.isEmpty() || instance.rank().rank() == rank.getAsInt())
                    .forEach(instance -> found.computeIfAbsent(device.node(), node -> new ArrayList<>())
                            .add(instance));
        }
        return found;
    }

    private static Optional<Share> reserve(DeviceView device, OperatorWishes wishes) {
        return wishes.reserve(device.id()).or(() -> device.report()
                .map(heard -> heard.message().ledger().wanted().reserve()));
    }

    private Ruling ruling(Situation situation, OperatorWishes wishes, String message) {
        Optional<String> excess = wishes.standing().excess();
        if (excess.isPresent()) {
            return refused(situation, message + ": " + excess.get());
        }
        NavigableMap<DeviceId, PlanReason> before = tooSmall(situation);
        return tooSmall(situation.withWishes(wishes)).entrySet().stream()
                .filter(entry -> !before.containsKey(entry.getKey()))
                .findFirst()
                .map(entry -> refused(situation, message + ": " + entry.getValue()))
                .orElseGet(() -> new Ruling(true, wishes, message));
    }

    /** The devices on which a rank would get less than the minimum. */
    private NavigableMap<DeviceId, PlanReason> tooSmall(Situation situation) {
        NavigableMap<DeviceId, PlanReason> reasons = new TreeMap<>();
        for (PlanOutcome outcome : planner.plan(situation)) {
            if (outcome instanceof Vetoed vetoed && vetoed.veto().rule() == Rule.MINIMUM) {
                reasons.put(vetoed.device(), vetoed.veto().reason());
            }
        }
        return reasons;
    }

    /** @param kind in front of the name; of what is known the same kind, each with its name as text */
    private static Ruling unknown(Situation situation, String kind, String name, Collection<?> known) {
        String why = UnknownName.text(kind, name, known);
        return new Ruling(false, situation.wishes(), "refused " + why, Optional.of(new NotKnown(kind)));
    }

    private static Ruling refused(Situation situation, String why) {
        return new Ruling(false, situation.wishes(), "refused " + why);
    }
}
