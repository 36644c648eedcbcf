package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.MigSlice;
import dev.ullage.common.model.NeedsRestart;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.KeeperCounts;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.DeviceStatus;
import dev.ullage.common.protocol.ToOperator.Explanation;
import dev.ullage.common.protocol.ToOperator.NodeStatus;
import dev.ullage.common.protocol.ToOperator.RankReason;
import dev.ullage.common.protocol.ToOperator.RolloutStatus;
import dev.ullage.common.protocol.ToOperator.SampleStatus;
import dev.ullage.common.protocol.ToOperator.Wishes;
import dev.ullage.coordinator.view.KnownRank;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * The status as JSON for people's scripts. Pure. Bytes are whole numbers, the unit is in a field's name; what is not
 * known is {@code null}, never 0 and never left out. Fields are added, not changed, while {@code schema} stays the
 * same.
 */
public final class StatusJson {
    public static final int SCHEMA = 1;

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private StatusJson() {}

    public static ObjectNode of(ClusterStatus status, Instant now) {
        ObjectNode json = NODES.objectNode();
        json.put("schema", SCHEMA);
        json.put("time", now.truncatedTo(ChronoUnit.MILLIS).toString());
        ObjectNode coordinator = json.putObject("coordinator");
        coordinator.put("node", status.coordinator().value());
        coordinator.put("state", status.state());
        coordinator.put("epoch", status.token().map(CoordinatorToken::epoch).orElse(null));
        coordinator.put("uid", status.token().map(CoordinatorToken::uid).orElse(null));
        ArrayNode nodes = json.putArray("nodes");
        status.nodes().forEach(node -> nodes.add(node(node, status.wishes())));
        ArrayNode rollouts = json.putArray("rollouts");
        status.rollouts().forEach(rollout -> rollouts.add(rollout(rollout)));
        json.set("operator", status.wishes().map(WishesJson::of).orElse(null));
        json.set("oomMoves", status.ooms().map(OomJson::moves).orElse(null));
        json.set("evenness", status.evenness().map(EvennessJson::of).orElse(null));
        ArrayNode errors = json.putArray("errors");
        if (!status.state().equals("ACTIVE")) {
            errors.add("the coordinator is " + status.state() + ": it may not have heard of every worker yet");
        }
        return json;
    }

    private static ObjectNode node(NodeStatus node, Optional<Wishes> wishes) {
        ObjectNode json = NODES.objectNode();
        json.put("node", node.node().value());
        json.put("ageMillis", node.ageMillis());
        json.put("draining", WishesJson.isDraining(wishes, node.node()).orElse(null));
        json.set("host", HostJson.of(node).orElse(null));
        ArrayNode devices = json.putArray("devices");
        node.devices().forEach(device -> devices.add(device(device, wishes)));
        return json;
    }

    private static ObjectNode device(DeviceStatus device, Optional<Wishes> wishes) {
        ObjectNode json = NODES.objectNode();
        json.put("uuid", device.info().id().value());
        json.put("index", device.info().index());
        json.put("name", device.info().name());
        json.put("kind", device.info().kind().label());
        json.put("pciBusId", device.info().pciBusId().orElse(null));
        json.set("mig", device.info().mig().map(StatusJson::mig).orElse(null));
        putMemory(json, device);
        putLedger(json, device.ledger());
        json.put("rollout", device.rollout().map(Enum::name).orElse(null));
        json.put("heldBack", device.explanation().flatMap(Explanation::heldBack).orElse(null));
        Optional<SampleStatus> sample = device.sample();
        json.put("sampleAgeMillis", sample.map(SampleStatus::ageMillis).orElse(null));
        Optional<SampleQuality> quality = sample.flatMap(SampleStatus::quality);
        json.put("sampleState", quality.map(known -> known.state().label()).orElse(null));
        json.put("lostSamples", quality.map(SampleQuality::lostSamples).orElse(null));
        json.set(
                "counts", device.ledger().map(ledger -> counts(ledger.counts())).orElse(null));
        json.set("turns", device.ledger().flatMap(TurnsJson::of).orElse(null));
        ArrayNode problems = json.putArray("problems");
        sample.ifPresent(reading -> reading.problems().forEach(problems::add));
        json.set("ranks", ranks(device, wishes).orElse(null));
        return json;
    }

    private static ObjectNode mig(MigSlice slice) {
        ObjectNode json = NODES.objectNode();
        json.put("parentUuid", slice.parent().value());
        json.put("gpuInstance", known(slice.gpuInstance()).orElse(null));
        json.put("computeInstance", known(slice.computeInstance()).orElse(null));
        json.put("profile", slice.profile().orElse(null));
        return json;
    }

    private static void putMemory(ObjectNode json, DeviceStatus device) {
        Optional<MemoryUse> memory = device.sample().flatMap(SampleStatus::memory);
        put(json, "totalBytes", memory.map(MemoryUse::total));
        put(json, "reservedBytes", memory.flatMap(MemoryUse::reserved));
        put(json, "allocatableBytes", memory.map(MemoryUse::allocatable).or(() -> device.ledger()
                .map(ledger -> ledger.wanted().allocatable())
                // A ledger begun while the device could not be read has nothing to give, which is no measure of it.
                .filter(amount -> !amount.isZero())));
        put(json, "usedBytes", memory.map(MemoryUse::used));
        put(json, "freeBytes", memory.map(MemoryUse::free));
        put(json, "foreignBytes", device.sample().flatMap(SampleStatus::foreign));
        put(json, "plannedForeignBytes", device.ledger().flatMap(LedgerReport::plannedForeign));
    }

    private static void putLedger(ObjectNode json, Optional<LedgerReport> ledger) {
        Optional<BudgetTerms> wanted = ledger.map(LedgerReport::wanted);
        Optional<BudgetTerms> inForce = ledger.map(LedgerReport::inForce);
        json.put(
                "reserveBasisPoints",
                wanted.map(terms -> terms.reserve().basisPoints()).orElse(null));
        json.put(
                "reserveInForceBasisPoints",
                inForce.map(terms -> terms.reserve().basisPoints()).orElse(null));
        put(json, "budgetBytes", wanted.map(BudgetTerms::budget));
        put(json, "budgetInForceBytes", inForce.map(BudgetTerms::budget));
        put(json, "ceilingBytes", ledger.map(report -> report.grants().stream()
                .map(GrantReport::ceiling)
                .reduce(MemoryBytes.ZERO, MemoryBytes::plus)));
        json.put("overBudget", ledger.map(LedgerReport::overBudget).orElse(null));
    }

    private static ObjectNode counts(KeeperCounts counts) {
        ObjectNode json = NODES.objectNode();
        json.put("ordersSent", counts.ordersSent());
        json.put("ordersRepeated", counts.ordersRepeated());
        json.put("confirmations", counts.confirmations());
        json.put("refusals", counts.refusals());
        json.put("highestPromisedBytes", counts.highestPromised().value());
        json.put("overCommits", counts.overCommits());
        return json;
    }

    /** All ranks that the ledger or a sample knows; nobody knows which there are before either was heard. */
    private static Optional<ArrayNode> ranks(DeviceStatus device, Optional<Wishes> wishes) {
        if (device.ledger().isEmpty() && device.sample().isEmpty()) {
            return Optional.empty();
        }
        ArrayNode json = NODES.arrayNode();
        for (KnownRank known : KnownRank.on(device)) {
            ObjectNode rank = rank(known.instance(), known.grant(), known.sample());
            putReason(rank, known.instance(), device.explanation());
            put(rank, "setLimitBytes", WishesJson.limit(wishes, known.instance().rank()));
            json.add(rank);
        }
        return Optional.of(json);
    }

    private static ObjectNode rank(RankInstance instance, Optional<GrantReport> grant, Optional<RankSample> sample) {
        ObjectNode json = NODES.objectNode();
        json.put("job", instance.rank().job().value());
        json.put("rank", instance.rank().rank());
        json.put("pid", instance.pid());
        putSample(json, sample);
        json.put(
                "shareBasisPoints",
                grant.map(promise -> promise.share().basisPoints()).orElse(null));
        Optional<PhaseLimits> target = grant.flatMap(GrantReport::target);
        Optional<Phase> phase = sample.map(said -> said.activity().phase());
        put(json, "limitBytes", target.flatMap(limits -> phase.map(limits::in)));
        json.set("limitsBytes", target.map(StatusJson::limits).orElse(null));
        put(json, "targetBytes", target.map(PhaseLimits::max));
        put(json, "ceilingBytes", grant.map(GrantReport::ceiling));
        json.put("sequence", grant.map(GrantReport::sequence).orElse(null));
        json.put("confirmedSequence", grant.map(GrantReport::confirmedSequence).orElse(null));
        json.put("settled", grant.map(GrantReport::isSettled).orElse(null));
        json.put("enforcedBy", sample.map(said -> said.enforcedBy().label()).orElse(null));
        json.put("connected", sample.map(RankSample::connected).orElse(null));
        json.put("ageMillis", sample.map(RankSample::ageMillis).orElse(null));
        json.put("refusals", sample.map(said -> said.use().refusals()).orElse(null));
        json.set(
                "needsRestart",
                sample.flatMap(RankSample::needsRestart)
                        .map(StatusJson::needsRestart)
                        .orElse(null));
        json.set("watch", sample.flatMap(RankSample::watch).map(WatchJson::of).orElse(null));
        json.set(
                "enforcement",
                sample.flatMap(RankSample::enforcement)
                        .map(how -> EnforcementJson.of(how, target.map(PhaseLimits::max)))
                        .orElse(null));
        return json;
    }

    private static ObjectNode needsRestart(NeedsRestart needs) {
        ObjectNode json = NODES.objectNode();
        json.put("inForceBytes", needs.inForce().value());
        json.put("limitBytes", needs.limit().value());
        json.put("reason", needs.reason());
        return json;
    }

    private static void putReason(ObjectNode json, RankInstance instance, Optional<Explanation> explanation) {
        Optional<RankReason> reason = explanation.stream()
                .flatMap(known -> known.ranks().stream())
                .filter(rank -> rank.instance().equals(instance))
                .findFirst();
        json.put("policy", reason.map(RankReason::policy).orElse(null));
        json.put(
                "priority",
                reason.flatMap(RankReason::priority).map(Priority::label).orElse(null));
        json.put("explanation", reason.map(RankReason::reason).orElse(null));
        json.set("needs", reason.flatMap(RankReason::needs).map(NeedsJson::of).orElse(null));
    }

    private static void putSample(ObjectNode json, Optional<RankSample> sample) {
        json.put(
                "worldSize",
                sample.flatMap(said -> known(said.facts().worldSize())).orElse(null));
        json.put(
                "localRank",
                sample.flatMap(said -> known(said.facts().localRank())).orElse(null));
        json.put("launcher", sample.map(said -> said.facts().launcher()).orElse(null));
        json.put("framework", sample.flatMap(said -> said.facts().framework()).orElse(null));
        json.put("phase", sample.map(said -> said.activity().phase().name()).orElse(null));
        OptionalLong step = sample.map(said -> said.activity().step()).orElse(OptionalLong.empty());
        json.put("step", step.isPresent() ? (Long) step.getAsLong() : null);
        put(json, "allocatedBytes", sample.flatMap(said -> said.use().allocated()));
        put(json, "reservedBytes", sample.flatMap(said -> said.use().reserved()));
        put(json, "peakAllocatedBytes", sample.flatMap(said -> said.use().peakAllocated()));
        put(json, "peakReservedBytes", sample.flatMap(said -> said.use().peakReserved()));
        put(json, "usedBytes", sample.flatMap(said -> said.use().held()));
    }

    private static ObjectNode limits(PhaseLimits limits) {
        ObjectNode json = NODES.objectNode();
        for (Phase phase : Phase.values()) {
            json.put(phase.name(), limits.in(phase).value());
        }
        return json;
    }

    private static ObjectNode rollout(RolloutStatus rollout) {
        ObjectNode json = NODES.objectNode();
        json.put("device", rollout.device().value());
        json.put("revision", rollout.revision());
        json.put("state", rollout.state().name());
        json.put("millis", rollout.millis());
        json.put("reason", rollout.reason());
        return json;
    }

    private static void put(ObjectNode json, String field, Optional<MemoryBytes> amount) {
        json.put(field, amount.map(MemoryBytes::value).orElse(null));
    }

    private static Optional<Integer> known(OptionalInt number) {
        return number.isPresent() ? Optional.of(number.getAsInt()) : Optional.empty();
    }
}
