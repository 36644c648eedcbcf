package dev.ullage.coordinator.planning;

import static dev.ullage.coordinator.Fixtures.DEVICE;
import static dev.ullage.coordinator.Fixtures.NODE;
import static dev.ullage.coordinator.Fixtures.T0;
import static dev.ullage.coordinator.Fixtures.TOKEN;
import static dev.ullage.coordinator.Fixtures.announced;
import static dev.ullage.coordinator.Fixtures.gib;
import static dev.ullage.coordinator.Fixtures.limits;
import static dev.ullage.coordinator.Fixtures.mib;
import static dev.ullage.coordinator.Fixtures.report;
import static dev.ullage.coordinator.Fixtures.terms;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.KeeperCounts;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ReservationReport;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.config.CoordinatorSettings;
import dev.ullage.config.JobTerms;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.PolicySettings;
import dev.ullage.coordinator.planning.DevicePlan.PlannedLimit;
import dev.ullage.coordinator.planning.KeptRoom.WantedRoom;
import dev.ullage.coordinator.planning.LimitPlanner.Decided;
import dev.ullage.coordinator.planning.PlanOutcome.Planned;
import dev.ullage.coordinator.view.ClusterView;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.apache.pekko.actor.testkit.typed.javadsl.TestInbox;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.Test;

/** What planning does on a device of which room is kept, or wanted: 80 GiB, of which 64 GiB may be promised. */
class KeptRoomTest {
    private static final ActorRef<ToWorker> WORKER =
            TestInbox.<ToWorker>create().getRef();
    private static final BudgetTerms TERMS = terms(gib(80), MemoryBytes.ZERO);
    private static final MemoryBytes HAS = gib(1);

    private final List<GrantReport> grants = new ArrayList<>();
    private final List<ReservationReport> reservations = new ArrayList<>();
    private final List<RankSample> samples = new ArrayList<>();
    private final NavigableMap<JobId, JobTerms> jobs = new TreeMap<>();
    private final LimitSettings defaults = LimitSettings.defaults();

    private static RankInstance rankOf(String job, int number) {
        return new RankInstance(new RankId(new JobId(job), number), 100 + number, 1);
    }

    /** A rank with a limit of {@link #HAS}, so that whatever is planned is worth a plan. */
    private void runs(String job, int number) {
        grants.add(new GrantReport(rankOf(job, number), Share.ALL, Optional.of(limits(HAS)), 1, 1, HAS));
    }

    private void isLow(String job) {
        JobTerms terms = JobTerms.defaults();
        jobs.put(new JobId(job), new JobTerms(terms.policy(), Priority.LOW, terms.modelSize(), terms.limit()));
    }

    private void holds(String job, int number, MemoryBytes held, MemoryBytes peak) {
        samples.add(new RankSample(
                rankOf(job, number),
                new RankFacts(OptionalInt.empty(), OptionalInt.empty(), "none", 0, Optional.empty(), List.of()),
                new RankSample.Activity(Phase.FORWARD, OptionalLong.empty()),
                new RankUse(Optional.empty(), Optional.of(held), Optional.empty(), Optional.of(peak), 0),
                EnforcedBy.TORCH,
                true,
                0,
                Optional.empty(),
                Optional.empty(),
                Optional.empty()));
    }

    private void isReserved(String job, MemoryBytes amount, int ranks) {
        reservations.add(new ReservationReport(
                new Reservation(
                        new ReservationId(new JobId(job), TOKEN, 1 + reservations.size()),
                        Priority.MEDIUM,
                        List.of(new ReservedPart(NODE, DEVICE, amount, ranks))),
                true));
    }

    private Decided decided(Optional<WantedRoom> wanted, BudgetTerms terms, boolean over) {
        LedgerReport ledger = new LedgerReport(
                terms, terms, over, grants, KeeperCounts.NONE, Optional.empty(), Optional.of(reservations));
        ClusterView view = ClusterView.EMPTY
                .with(announced(NODE, Optional.empty(), WORKER, DEVICE), T0)
                .with(report(0, ledger), T0)
                .with(new DeviceSampled(NODE, DEVICE, 0, Optional.empty(), Optional.empty(), samples, List.of()), T0);
        PolicySettings policies = new PolicySettings(
                JobTerms.defaults(),
                jobs,
                defaults.policies().priorityPool(),
                defaults.policies().hybrid(),
                defaults.policies().observed());
        LimitSettings settings = new LimitSettings(
                defaults.reserve(), defaults.minimum(), defaults.deadBand(), defaults.phases(), policies);
        Map<DeviceId, WantedRoom> room = wanted.<Map<DeviceId, WantedRoom>>map(one -> Map.of(DEVICE, one))
                .orElseGet(Map::of);
        Situation situation = new Situation(view, Map.of(), OperatorWishes.NONE, TOKEN, T0, room);
        return LimitPlanner.of(CoordinatorSettings.defaults(), settings)
                .decide(situation)
                .get(0);
    }

    private DevicePlan plan(Optional<WantedRoom> wanted) {
        Decided decided = decided(wanted, TERMS, false);
        assertThat(decided.outcome()).isInstanceOf(Planned.class);
        return decided.outcome().plan();
    }

    private static Optional<WantedRoom> wanted(Priority priority, MemoryBytes amount) {
        return Optional.of(new WantedRoom(new JobId("next"), priority, amount));
    }

    private static List<String> amounts(DevicePlan plan) {
        return plan.limits().stream()
                .map(limit -> limit.instance().rank() + " " + limit.limits())
                .toList();
    }

    private static String reason(DevicePlan plan, String job) {
        return plan.limits().stream()
                .filter(limit -> limit.instance().rank().job().value().equals(job))
                .map(PlannedLimit::reason)
                .findFirst()
                .orElseThrow()
                .text();
    }

    @Test
    void ranksOfAReservedJobHaveWhatIsReservedForThemAndTheOthersShareTheRest() {
        runs("gang", 0);
        runs("gang", 1);
        runs("other", 0);
        runs("other", 1);
        isReserved("gang", gib(40), 2);

        DevicePlan plan = plan(Optional.empty());

        assertThat(amounts(plan))
                .containsExactly("gang/0 20.0 GiB", "gang/1 20.0 GiB", "other/0 12.0 GiB", "other/1 12.0 GiB");
        assertThat(reason(plan, "gang")).isEqualTo("reserved for its job: 40.0 GiB for 2 ranks here is 20.0 GiB each");
        assertThat(reason(plan, "other"))
                .isEqualTo("80.0 GiB less reserve 20% over 2 ranks is 32.0 GiB, foreign memory of 0 B and 40.0 GiB kept"
                        + " for jobs leaves 12.0 GiB; 40.0 GiB reserved for job gang");
        assertThat(plan.reason().text()).endsWith("; 40.0 GiB reserved for job gang");
    }

    @Test
    void whatIsReservedForRanksThatAreNotThereIsGivenToNobody() {
        runs("gang", 0);
        runs("other", 0);
        isReserved("gang", gib(30), 2);
        isReserved("absent", gib(20), 1);

        assertThat(amounts(plan(Optional.empty()))).containsExactly("gang/0 15.0 GiB", "other/0 14.0 GiB");
    }

    @Test
    void withoutRoomForAllThatIsReservedItsRanksShareTheBudget() {
        runs("gang", 0);
        runs("gang", 1);
        isReserved("gang", gib(60), 2);

        Decided decided = decided(Optional.empty(), terms(gib(80), gib(24)), true);

        assertThat(amounts(decided.outcome().plan())).containsExactly("gang/0 20.0 GiB", "gang/1 20.0 GiB");
        assertThat(reason(decided.outcome().plan(), "gang"))
                .endsWith(", but the budget is 40.0 GiB: 20.0 GiB is left for it");
    }

    @Test
    void jobsOfLowerPriorityMakeRoomDownToWhatTheyHold() {
        runs("low", 0);
        runs("low", 1);
        isLow("low");
        holds("low", 0, gib(10), gib(20));
        holds("low", 1, gib(10), gib(10));

        DevicePlan plan = plan(wanted(Priority.HIGH, gib(60)));

        assertThat(amounts(plan)).containsExactly("low/0 20.0 GiB", "low/1 10.0 GiB");
        assertThat(reason(plan, "low"))
                .endsWith("; asked to make room: 60.0 GiB for job next (priority high) wanted, priority here low:"
                        + " 32.0 GiB -> 20.0 GiB (floor 20.0 GiB)");
        assertThat(plan.reason().text())
                .endsWith("; lower priorities make room: 60.0 GiB for job next (priority high) wanted");
    }

    @Test
    void noMoreIsTakenThanIsWantedAndTheLargestGivesFirst() {
        runs("low", 0);
        runs("low", 1);
        isLow("low");
        holds("low", 0, gib(2), gib(2));
        holds("low", 1, gib(22), gib(22));

        assertThat(amounts(plan(wanted(Priority.MEDIUM, gib(10)))))
                .as("30 and 10 above the floors, 10 of them wanted")
                .containsExactly("low/0 22.0 GiB", "low/1 32.0 GiB");
    }

    @Test
    void nobodyOfTheSamePriorityNorOneWithAReservationNorOneNobodyHasSeenMakesRoom() {
        runs("equal", 0);
        runs("gang", 0);
        runs("unseen", 0);
        isLow("unseen");
        isLow("gang");
        isReserved("gang", gib(24), 1);
        holds("equal", 0, gib(1), gib(1));
        holds("gang", 0, gib(1), gib(1));

        DevicePlan without = plan(Optional.empty());
        DevicePlan with = plan(wanted(Priority.MEDIUM, gib(60)));

        assertThat(amounts(with)).isEqualTo(amounts(without));
        assertThat(amounts(with)).containsExactly("gang/0 24.0 GiB", "equal/0 20.0 GiB", "unseen/0 20.0 GiB");
    }

    @Test
    void nobodyIsMadeSmallerThanTheMinimum() {
        runs("low", 0);
        isLow("low");
        holds("low", 0, mib(1), mib(1));

        assertThat(amounts(plan(wanted(Priority.HIGH, gib(64)))))
                .containsExactly("low/0 " + limits(defaults.minimum()));
    }

    @Test
    void roomThatIsFreeAnywayIsTakenFromNobody() {
        runs("low", 0);
        isLow("low");
        holds("low", 0, gib(1), gib(1));
        isReserved("absent", gib(4), 1);

        DevicePlan plan = plan(wanted(Priority.HIGH, gib(20)));

        assertThat(amounts(plan)).containsExactly("low/0 40.0 GiB");
    }
}
