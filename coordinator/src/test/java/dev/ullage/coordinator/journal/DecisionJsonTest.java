package dev.ullage.coordinator.journal;

import static dev.ullage.coordinator.Fixtures.DEVICE;
import static dev.ullage.coordinator.Fixtures.JOB;
import static dev.ullage.coordinator.Fixtures.T0;
import static dev.ullage.coordinator.Fixtures.TOKEN;
import static dev.ullage.coordinator.Fixtures.rank;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.RankWatch.Allocator;
import dev.ullage.common.model.RankWatch.Leak;
import dev.ullage.common.model.RankWatch.PhasePeak;
import dev.ullage.common.model.RankWatch.Progress;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.TurnPlan;
import dev.ullage.config.FixedLimit;
import dev.ullage.config.JobTerms;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.PhaseShares;
import dev.ullage.config.PolicyName;
import dev.ullage.config.PolicySettings;
import dev.ullage.coordinator.decisions.Decision;
import dev.ullage.coordinator.decisions.Decision.Kind;
import dev.ullage.coordinator.decisions.Decision.Planning;
import dev.ullage.coordinator.decisions.Decision.Subject;
import dev.ullage.coordinator.decisions.DecisionBook;
import dev.ullage.coordinator.decisions.PlannerSettings;
import dev.ullage.coordinator.decisions.Rerun;
import dev.ullage.coordinator.decisions.Rerun.Difference;
import dev.ullage.coordinator.journal.DecisionJson.Line;
import dev.ullage.coordinator.journal.DecisionJson.UnreadableException;
import dev.ullage.coordinator.planning.DeviceInput;
import dev.ullage.coordinator.planning.DeviceInput.RankInput;
import dev.ullage.coordinator.planning.DevicePlan.PlannedLimit;
import dev.ullage.coordinator.planning.DeviceTarget;
import dev.ullage.coordinator.planning.DeviceTarget.RankTarget;
import dev.ullage.coordinator.planning.KeptRoom;
import dev.ullage.coordinator.planning.KeptRoom.JobRoom;
import dev.ullage.coordinator.planning.KeptRoom.WantedRoom;
import dev.ullage.coordinator.planning.LimitPlanner;
import dev.ullage.coordinator.planning.LimitPlanner.Decided;
import dev.ullage.coordinator.planning.PlanOutcome.Vetoed;
import dev.ullage.coordinator.planning.PlanReason;
import dev.ullage.coordinator.planning.RankDemands;
import dev.ullage.coordinator.planning.RankObserved;
import dev.ullage.coordinator.planning.RankRequest;
import dev.ullage.coordinator.planning.TurnPlanner.TurnRuling;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class DecisionJsonTest {
    private static final JsonMapper JSON = new JsonMapper();
    private static final long MOST = 1L << 36;

    private static Decision read(String line) throws UnreadableException {
        return ((Line.Of) DecisionJson.parse(line)).decision();
    }

    private static ObjectNode plan() throws Exception {
        return (ObjectNode) JSON.readTree(DecisionJson.line(Decisions.plan()));
    }

    // Goal: a record holds all that the planner looks at. Method: whatever it may be given, its record read back is
    // equal to it and leads the planner, made from the record's settings, to the same.
    @Property(tries = 400)
    void whatIsReadBackIsEqualAndIsDecidedTheSameAgain(@ForAll Random random) throws Exception {
        LimitSettings limits = new LimitSettings(
                Share.NONE,
                amount(random),
                new Share(random.nextInt(300)),
                new PhaseShares(
                        Share.ALL, share(random), share(random), Share.ALL, share(random), Share.ALL, share(random)),
                PolicySettings.defaults());
        DeviceInput input = input(random);
        Decided decided = new Decided(
                input, LimitPlanner.of(Decisions.STALE_AFTER, limits).decide(input));
        DecisionBook book = new DecisionBook(PlannerSettings.of(Decisions.STALE_AFTER, limits));
        Decision decision = decided.outcome() instanceof Vetoed vetoed
                ? book.heldBack(decided, vetoed, TOKEN, T0)
                : book.planned(decided, 7, TOKEN, T0);

        Decision read = read(DecisionJson.line(decision));

        assertThat(read).isEqualTo(decision);
        assertThat(Rerun.of(read.planning().orElseThrow(), Optional.empty())).isEqualTo(new Rerun(List.of(), false));
    }

    @Test
    void aRecordOfBeforeRoomWasKeptHasNone() throws UnreadableException {
        String line = DecisionJson.line(Decisions.plan());

        assertThat(line).contains(",\"room\":null");
        assertThat(read(line.replace(",\"room\":null", ""))).isEqualTo(Decisions.plan());
    }

    private static MemoryBytes amount(Random random) {
        return MemoryBytes.of(random.nextLong(MOST));
    }

    private static Share share(Random random) {
        return new Share(random.nextInt(Share.ONE_IN_BASIS_POINTS + 1));
    }

    private static <T> Optional<T> maybe(Random random, T value) {
        return random.nextBoolean() ? Optional.of(value) : Optional.empty();
    }

    private static DeviceInput input(Random random) {
        List<RankInput> ranks = new ArrayList<>();
        NavigableMap<RankInstance, RankTarget> before = new TreeMap<>();
        int count = random.nextInt(5);
        for (int i = 0; i < count; i++) {
            ranks.add(new RankInput(request(random, i), random.nextBoolean()));
            if (random.nextBoolean()) {
                before.put(
                        rank(i), new RankTarget(maybe(random, PhaseLimits.of(phase -> amount(random))), share(random)));
            }
        }
        SampleState[] states = SampleState.values();
        return new DeviceInput(
                DEVICE,
                new BudgetTerms(amount(random), share(random), amount(random)),
                random.nextBoolean(),
                new DeviceTarget(share(random), before, maybe(random, turns(random)), random.nextBoolean()),
                Duration.ofNanos(random.nextLong(6_000_000_000L)),
                maybe(random, states[random.nextInt(states.length)]),
                ranks,
                maybe(random, ruling(random, count)),
                maybe(random, room(random)));
    }

    private static KeptRoom room(Random random) {
        Priority[] priorities = Priority.values();
        WantedRoom wanted =
                new WantedRoom(new JobId("next"), priorities[random.nextInt(priorities.length)], amount(random));
        JobRoom reserved = new JobRoom(rank(0).rank().job(), amount(random), 1 + random.nextInt(3));
        return new KeptRoom(random.nextBoolean() ? List.of(reserved) : List.of(), maybe(random, wanted));
    }

    private static TurnPlan turns(Random random) {
        return new TurnPlan(
                amount(random),
                List.of(new TurnPlan.RankTurn(rank(0), List.of(Phase.FORWARD, Phase.BACKWARD), amount(random))));
    }

    private static TurnRuling ruling(Random random, int count) {
        List<PlannedLimit> limits = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            limits.add(new PlannedLimit(
                    rank(i), PhaseLimits.of(phase -> amount(random)), share(random), new PlanReason("as ruled")));
        }
        return new TurnRuling(maybe(random, turns(random)), limits);
    }

    private static RankRequest request(Random random, int number) {
        PolicyName[] policies = PolicyName.values();
        Priority[] priorities = Priority.values();
        JobTerms terms = new JobTerms(
                policies[random.nextInt(policies.length)],
                priorities[random.nextInt(priorities.length)],
                maybe(random, amount(random)),
                random.nextBoolean() ? FixedLimit.of(amount(random)) : FixedLimit.of(share(random)));
        RankWatch watch = new RankWatch(
                new Progress(OptionalLong.of(random.nextInt(99)), OptionalLong.empty(), random.nextInt(99)),
                List.of(new PhasePeak(Phase.FORWARD, maybe(random, amount(random)), maybe(random, amount(random)))),
                new Allocator(
                        OptionalLong.empty(),
                        OptionalLong.of(3),
                        maybe(random, share(random)),
                        Optional.empty(),
                        OptionalLong.empty(),
                        OptionalLong.of(random.nextInt(2))),
                Leak.UNKNOWN,
                List.of(),
                Optional.empty());
        RankObserved observed = new RankObserved(
                random.nextBoolean() ? OptionalInt.of(1 + random.nextInt(9)) : OptionalInt.empty(),
                random.nextBoolean() ? OptionalLong.of(random.nextInt(2_000)) : OptionalLong.empty(),
                maybe(random, amount(random)),
                maybe(random, amount(random)),
                random.nextInt(2),
                maybe(random, watch),
                maybe(random, new RankDemands.Demand(maybe(random, amount(random)), "by its use")));
        return new RankRequest(rank(number), share(random), terms, observed);
    }

    @Test
    void amountsAreBytesAndNamesAreTheSettings() throws Exception {
        ObjectNode json = plan();

        assertThat(json.path("schema").intValue()).isEqualTo(1);
        assertThat(json.path("kind").asText()).isEqualTo("plan");
        assertThat(json.at("/planning/input/terms").toString())
                .isEqualTo("{\"allocatable\":85899345920,\"reserve\":2000,\"foreign\":0,\"pool\":null}");
        assertThat(json.at("/planning/input/ranks/1/request/terms/policy").asText())
                .isEqualTo("rank-share");
        assertThat(json.at("/planning/outcome/limits/0/limits/forward").longValue())
                .isEqualTo(34_359_738_368L);
        assertThat(json.at("/planning/revision").longValue()).isEqualTo(1);
    }

    @Test
    void whatIsNotKnownIsPassedOver() throws Exception {
        ObjectNode json = plan();
        json.put("weather", "fair");
        ((ObjectNode) json.at("/planning/input")).put("wind", 3);
        ((ObjectNode) json.at("/planning/input/ranks/0/request/observed")).putArray("clouds");

        assertThat(read(json.toString())).isEqualTo(Decisions.plan());
        assertThat(DecisionJson.parse("{\"schema\":1,\"kind\":\"drain\"}")).isEqualTo(new Line.Other("drain"));
    }

    // Goal: a missing number is an error, never a zero.
    @Test
    void whatIsMissingIsNamed() throws Exception {
        ObjectNode json = plan();
        ((ObjectNode) json.at("/planning/input/terms")).remove("allocatable");
        assertThatThrownBy(() -> DecisionJson.parse(json.toString()))
                .isInstanceOf(UnreadableException.class)
                .hasMessageContaining("allocatable");

        ObjectNode other = plan();
        other.remove("number");
        assertThatThrownBy(() -> DecisionJson.parse(other.toString())).hasMessage("number is missing");
        ObjectNode third = plan();
        third.remove("planning");
        assertThatThrownBy(() -> DecisionJson.parse(third.toString()))
                .hasMessage("a record of kind plan has no planning");
    }

    @Test
    void whatIsNoRecordIsRefused() {
        assertThatThrownBy(() -> DecisionJson.parse("{\"schema\":2}"))
                .hasMessage("a record of schema 2, this version reads 1");
        assertThatThrownBy(() -> DecisionJson.parse("[]")).hasMessageContaining("no schema number");
        assertThatThrownBy(() -> DecisionJson.parse("{\"schema\":1")).isInstanceOf(UnreadableException.class);
        assertThatThrownBy(() -> DecisionJson.parse("{\"schema\":1,\"kind\":\"dropped\"}"))
                .hasMessage("records is missing");
    }

    @Test
    void anAlteredLimitIsFound() throws Exception {
        ObjectNode json = plan();
        ObjectNode limits = (ObjectNode) json.at("/planning/outcome/limits/1/limits");
        limits.put("forward", limits.path("forward").longValue() - 1);

        Planning planning = read(json.toString()).planning().orElseThrow();

        assertThat(Rerun.of(planning, Optional.empty()).differences())
                .containsExactly(new Difference("limit of job/1 in FORWARD", "34359738367", "34359738368"));
    }

    // Goal: a record that was tampered with ends no replay.
    @Test
    void anInputThatCannotBePlannedIsADifference() throws Exception {
        ObjectNode json = plan();
        ((ObjectNode) json.at("/planning/input/terms")).put("allocatable", Long.MAX_VALUE);
        ObjectNode terms = (ObjectNode) json.at("/planning/input/ranks/0/request/terms");
        terms.put("policy", "priority-pool").put("modelSize", Long.MAX_VALUE);

        List<Difference> differences = Rerun.of(read(json.toString()).planning().orElseThrow(), Optional.empty())
                .differences();

        assertThat(differences).singleElement().satisfies(difference -> assertThat(difference.now())
                .startsWith("no plan is possible: java.lang.ArithmeticException"));
    }

    @Test
    void anotherPolicySaysWhatItWouldHaveDecided() {
        Planning planning = Decisions.plan().planning().orElseThrow();

        assertThat(Rerun.of(planning, Optional.of(PolicyName.FIXED)).differences())
                .containsExactly(
                        new Difference("limit of job/0", "34359738368", "12884901888"),
                        new Difference("limit of job/1", "34359738368", "55834574848"));
        assertThat(Rerun.of(planning, Optional.of(PolicyName.RANK_SHARE)).differences())
                .isEmpty();
    }

    @Test
    void whatIsNoPlanIsRecordedToo() throws Exception {
        DecisionBook book = new DecisionBook(PlannerSettings.of(Decisions.STALE_AFTER, LimitSettings.defaults()));

        Decision decision = book.other(Kind.OPERATOR, Subject.of(JOB), "share of every rank of job -> 50%", TOKEN, T0);

        assertThat(read(DecisionJson.line(decision))).isEqualTo(decision);
    }
}
