package dev.ullage.coordinator.planning;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.TurnPlan.RankTurn;
import dev.ullage.config.BurstNeed;
import dev.ullage.config.JobTerms;
import dev.ullage.config.TurnMode;
import dev.ullage.coordinator.planning.DevicePlan.PlannedLimit;
import dev.ullage.coordinator.planning.TurnPlanner.Candidate;
import dev.ullage.coordinator.planning.TurnPlanner.TurnRuling;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Jobs with the profile of a recorded model of 24 layers, 6,521 MiB and 23,090 MiB at its peak, on GPUs of 40 GiB. */
class TurnPlannerTest {
    private static final MemoryBytes PERSISTENT = MemoryBytes.ofMebibytes(6_521);
    private static final MemoryBytes PEAK = MemoryBytes.ofMebibytes(23_090);
    private static final MemoryBytes BURST = PEAK.minus(PERSISTENT);
    private static final DeviceId FIRST = new DeviceId("GPU-0");
    private static final DeviceId SECOND = new DeviceId("GPU-1");
    private static final NodeId HOST = new NodeId("host-1");
    private static final NodeId OTHER_HOST = new NodeId("host-2");

    private final TurnPlanner planner = new TurnPlanner(TurnMode.AUTO, TurnNeeds.declared());

    private static RankRequest rank(String job, int rank) {
        return rank(job, rank, Optional.of(new BurstNeed(PERSISTENT, PEAK, BurstNeed.DEFAULT_PHASES)), Share.ALL);
    }

    private static RankRequest rank(String job, int rank, Optional<BurstNeed> need, Share share) {
        JobTerms any = JobTerms.defaults();
        JobTerms terms = new JobTerms(any.policy(), any.priority(), any.modelSize(), any.limit(), need);
        RankInstance instance = new RankInstance(new RankId(new JobId(job), rank), 100L + rank, 1);
        return new RankRequest(instance, share, terms, RankObserved.NOTHING);
    }

    /** A device of so many GiB, 20 % kept free, which its ranks share equally without turns. */
    private static Candidate device(DeviceId id, NodeId host, long gibibytes, RankRequest... ranks) {
        BudgetTerms terms = new BudgetTerms(MemoryBytes.ofGibibytes(gibibytes), Share.ofPercent(20), MemoryBytes.ZERO);
        List<PlannedLimit> limits = new ArrayList<>();
        for (RankRequest rank : ranks) {
            limits.add(new PlannedLimit(
                    rank.instance(),
                    PhaseLimits.uniform(terms.budget().dividedBy(ranks.length)),
                    rank.share(),
                    new PlanReason("fair")));
        }
        return new Candidate(id, host, terms, true, List.of(ranks), limits);
    }

    private TurnRuling rule(Candidate candidate) {
        return of(planner.rule(List.of(candidate)), candidate.device());
    }

    private static TurnRuling of(Map<DeviceId, TurnRuling> rulings, DeviceId device) {
        return Objects.requireNonNull(rulings.get(device));
    }

    private static String reason(TurnRuling ruling) {
        return ruling.limits().get(0).reason().text();
    }

    @Test
    void twoJobsWhosePeaksDoNotFitTakeTurns() {
        RankRequest a = rank("a", 0);
        RankRequest b = rank("b", 1);

        TurnRuling ruling = rule(device(FIRST, HOST, 40, a, b));

        assertThat(ruling.turns()).hasValueSatisfying(turns -> {
            assertThat(turns.pool()).isEqualTo(BURST);
            assertThat(turns.ranks())
                    .containsExactly(
                            new RankTurn(a.instance(), List.of(Phase.FORWARD, Phase.BACKWARD), BURST),
                            new RankTurn(b.instance(), List.of(Phase.FORWARD, Phase.BACKWARD), BURST));
        });
        assertThat(ruling.limits())
                .allSatisfy(limit -> assertThat(limit.limits().max()).isEqualTo(PERSISTENT));
        assertThat(reason(ruling))
                .isEqualTo("taking turns: persistent need 6.4 GiB, with a turn 22.5 GiB in [FORWARD, BACKWARD]"
                        + " (pool 16.2 GiB)");
    }

    @Test
    void theRanksOfOneJobBurstTogether() {
        TurnRuling ruling = rule(device(FIRST, HOST, 100, rank("a", 0), rank("a", 1), rank("b", 2), rank("c", 3)));

        assertThat(ruling.turns())
                .hasValueSatisfying(turns -> assertThat(turns.pool()).isEqualTo(BURST.plus(BURST)));
    }

    @Test
    void nobodyTakesTurnsWhereEveryPeakFitsOrThereIsOneJobOrNobodyWantsIt() {
        assertThat(rule(device(FIRST, HOST, 80, rank("a", 0), rank("b", 1))).turns())
                .isEmpty();
        assertThat(rule(device(FIRST, HOST, 40, rank("a", 0), rank("a", 1))).turns())
                .isEmpty();
        TurnRuling off = of(
                new TurnPlanner(TurnMode.OFF, TurnNeeds.declared())
                        .rule(List.of(device(FIRST, HOST, 40, rank("a", 0), rank("b", 1)))),
                FIRST);
        assertThat(off.turns()).isEmpty();
        assertThat(reason(off)).isEqualTo("fair");
    }

    @Test
    void aRefusalNamesTheNumbers() {
        assertThat(reason(rule(device(FIRST, HOST, 36, rank("a", 0), rank("b", 1)))))
                .isEqualTo("fair; no turns: persistent 12.7 GiB and the largest burst 16.2 GiB are more than 28.8 GiB");
        assertThat(reason(rule(device(FIRST, HOST, 40, rank("a", 0), rank("b", 1, Optional.empty(), Share.ALL)))))
                .isEqualTo("fair; no turns: what job b needs is not known"
                        + " (ullage.limits.jobs.b.persistent and .peak)");
        Optional<BurstNeed> need = rank("b", 1).terms().need();
        assertThat(reason(rule(device(FIRST, HOST, 40, rank("a", 0), rank("b", 1, need, Share.ofPercent(50))))))
                .isEqualTo("fair; no turns: the operator left b/1 50%");
    }

    // The limits of those that take no turns count like persistent parts.
    @Test
    void aJobOfWhichNothingIsKnownKeepsItsLimitBesideTwoThatTakeTurns() {
        RankRequest unknown = rank("c", 2, Optional.empty(), Share.ALL);
        TurnRuling ruling = rule(device(FIRST, HOST, 64, rank("a", 0), rank("b", 1), unknown));

        assertThat(ruling.turns()).hasValueSatisfying(turns -> assertThat(turns.ranks())
                .extracting(turn -> turn.instance().rank().job().toString())
                .containsExactly("a", "b"));
        PlannedLimit kept = ruling.limits().get(2);
        assertThat(kept.limits().max())
                .isEqualTo(
                        MemoryBytes.ofGibibytes(64).times(Share.ofPercent(80)).dividedBy(3));
        assertThat(kept.reason().text())
                .isEqualTo("fair; no turns for it: what job c needs is not known (ullage.limits.jobs.c.persistent and"
                        + " .peak)");
        assertThat(reason(rule(device(FIRST, HOST, 40, rank("a", 0), rank("b", 1), unknown))))
                .isEqualTo("fair; no turns: persistent 12.7 GiB, the limits of those without turns 10.7 GiB and the"
                        + " largest burst 16.2 GiB are more than 32.0 GiB");
    }

    // One rank of which nothing is known: its job would wait for it in collectives, with a turn of no use.
    @Test
    void aJobTakesTurnsWithAllOfItsRanksOnADeviceOrNone() {
        TurnRuling ruling =
                rule(device(FIRST, HOST, 100, rank("a", 0), rank("b", 1), rank("b", 2, Optional.empty(), Share.ALL)));

        assertThat(ruling.turns()).isEmpty();
        assertThat(reason(ruling)).startsWith("fair; no turns: what job b needs is not known");
    }

    // Contexts of 1,024 tokens: 6,752 MiB in the optimizer's step, 23,090 MiB in the backward pass.
    @Test
    void theRecordedModelTakesTurnsByWhatWasObservedOfIt() {
        assertThat(reason(observed(5)))
                .isEqualTo("taking turns: persistent need 6.9 GiB, with a turn 23.7 GiB in [FORWARD, BACKWARD,"
                        + " EVALUATION, CHECKPOINT] (pool 16.8 GiB); observed: at most 6.6 GiB outside of its burst"
                        + " and 22.5 GiB in it, slack 5%");
        assertThat(observed(5).turns()).isPresent();
        assertThat(reason(observed(10)))
                .as("58 MiB too much")
                .isEqualTo("fair; no turns: persistent 14.5 GiB and the largest burst 17.6 GiB are more than 32.0 GiB");
    }

    private TurnRuling observed(int slackPercent) {
        TurnPlanner byBoth = new TurnPlanner(TurnMode.AUTO, TurnNeeds.declaredOrObserved());
        ObservedNeeds needs = new ObservedNeeds(Share.ofPercent(slackPercent), MemoryBytes.ofMebibytes(64));
        RankRequest[] ranks = {recorded(needs, "a"), recorded(needs, "b")};
        return of(byBoth.rule(List.of(device(FIRST, HOST, 40, ranks))), FIRST);
    }

    private static RankRequest recorded(ObservedNeeds needs, String job) {
        RankInstance instance = rank(job, 0).instance();
        needs.observe(List.of(RecordedSteps.sample(instance, "1024")));
        return new RankRequest(
                instance,
                Share.ALL,
                JobTerms.defaults(),
                RankObserved.NOTHING,
                Optional.empty(),
                Optional.empty(),
                Optional.of(needs.of(instance)));
    }

    @Test
    void whatAJobDeclaresWinsAndWhatIsNotKnownYetIsSaid() {
        Optional<ObservedNeeds.Seen> young = Optional.of(new ObservedNeeds.Seen(Optional.empty(), "3 of its steps"));
        RankRequest declared = new RankRequest(
                rank("a", 0).instance(),
                Share.ALL,
                rank("a", 0).terms(),
                RankObserved.NOTHING,
                Optional.empty(),
                Optional.empty(),
                young);
        RankRequest unknown = new RankRequest(
                rank("b", 1).instance(),
                Share.ALL,
                JobTerms.defaults(),
                RankObserved.NOTHING,
                Optional.empty(),
                Optional.empty(),
                young);
        TurnNeeds both = TurnNeeds.declaredOrObserved();

        assertThat(both.of(declared).burst()).isEqualTo(declared.terms().need());
        assertThat(both.of(unknown))
                .isEqualTo(new TurnNeeds.Need(Optional.empty(), "what b/1 needs is not known yet: 3 of its steps"));
        TurnRuling nobody = of(
                new TurnPlanner(TurnMode.AUTO, both).rule(List.of(device(FIRST, HOST, 40, unknown, seen("c", young)))),
                FIRST);
        assertThat(reason(nobody)).isEqualTo("fair; no turns: what b/1 needs is not known yet: 3 of its steps");
        TurnRuling alone =
                of(new TurnPlanner(TurnMode.AUTO, both).rule(List.of(device(FIRST, HOST, 40, unknown))), FIRST);
        assertThat(reason(alone)).isEqualTo("fair");
    }

    private static RankRequest seen(String job, Optional<ObservedNeeds.Seen> seen) {
        return new RankRequest(
                rank(job, 0).instance(),
                Share.ALL,
                JobTerms.defaults(),
                RankObserved.NOTHING,
                Optional.empty(),
                Optional.empty(),
                seen);
    }

    @Test
    void aWorkerThatKnowsNoTurnsIsNotAskedForThem() {
        Candidate device = device(FIRST, HOST, 40, rank("a", 0), rank("b", 1));
        Candidate older =
                new Candidate(device.device(), device.node(), device.terms(), false, device.ranks(), device.limits());

        assertThat(rule(older).turns()).isEmpty();
        assertThat(reason(rule(older))).isEqualTo("fair; no turns: the worker host-1 is older and knows none");
    }

    @Test
    void jobsThatMeetOnTwoDevicesOfAHostTakeTurnsOnBoth() {
        Map<DeviceId, TurnRuling> rulings = planner.rule(List.of(
                device(FIRST, HOST, 40, rank("a", 0), rank("b", 0)),
                device(SECOND, HOST, 40, rank("a", 1), rank("b", 1))));

        assertThat(rulings.values())
                .allSatisfy(ruling -> assertThat(ruling.turns()).isPresent());
    }

    @Test
    void jobsThatMeetOnASecondHostTakeNoTurnsThere() {
        Map<DeviceId, TurnRuling> rulings = planner.rule(List.of(
                device(FIRST, HOST, 40, rank("a", 0), rank("b", 0)),
                device(SECOND, OTHER_HOST, 40, rank("a", 1), rank("b", 1))));

        assertThat(of(rulings, FIRST).turns()).isPresent();
        assertThat(of(rulings, SECOND).turns()).isEmpty();
        assertThat(reason(of(rulings, SECOND)))
                .isEqualTo("fair; no turns: jobs a and b meet on hosts host-1 and host-2: turns could block each"
                        + " other");
    }

    // A ring: a and b on one host, b and c on the next, c and a on the last.
    @Test
    void aRingOfJobsOverHostsIsBroken() {
        DeviceId third = new DeviceId("GPU-2");
        Map<DeviceId, TurnRuling> rulings = planner.rule(List.of(
                device(FIRST, HOST, 40, rank("a", 0), rank("b", 0)),
                device(SECOND, OTHER_HOST, 40, rank("b", 1), rank("c", 0)),
                device(third, new NodeId("host-3"), 40, rank("c", 1), rank("a", 1))));

        assertThat(of(rulings, SECOND).turns()).isPresent();
        assertThat(of(rulings, third).turns()).isEmpty();
        assertThat(reason(of(rulings, third))).contains("jobs a and c meet on hosts");
    }
}
