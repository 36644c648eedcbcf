package dev.ullage.worker.enforcement;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankEnforcement;
import dev.ullage.common.model.RankEnforcement.Overhead;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.KeeperCounts;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.TurnPlan;
import dev.ullage.common.protocol.TurnReport;
import dev.ullage.worker.enforcement.Ladder.Holds;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class EnforcementWatchTest {
    private static final DeviceId DEVICE = new DeviceId("GPU-1");
    private static final RankInstance RANK = new RankInstance(new RankId(new JobId("bert"), 3), 4242, 7);

    private final EnforcementWatch watch = new EnforcementWatch(new CeilingAlarm.Terms(mib(64), 3));

    private static MemoryBytes mib(long mebibytes) {
        return MemoryBytes.ofMebibytes(mebibytes);
    }

    private static LimitsReported report(Optional<PhaseLimits> target, MemoryBytes ceiling) {
        BudgetTerms terms = new BudgetTerms(mib(80_000), Share.NONE, MemoryBytes.ZERO);
        GrantReport grant = new GrantReport(RANK, Share.ALL, target, 1, 1, ceiling);
        return new LimitsReported(
                new NodeId("a"),
                DEVICE,
                Optional.empty(),
                1,
                new LedgerReport(terms, terms, false, List.of(grant), KeeperCounts.NONE));
    }

    private static RankSample said(Optional<Overhead> overhead) {
        return new RankSample(
                RANK,
                new RankFacts(OptionalInt.empty(), OptionalInt.empty(), "none", 0, Optional.empty(), List.of()),
                new RankSample.Activity(Phase.FORWARD, OptionalLong.empty()),
                RankUse.UNKNOWN,
                EnforcedBy.ADVISORY,
                true,
                0,
                Optional.empty(),
                Optional.empty(),
                Optional.of(new RankEnforcement(Optional.empty(), overhead, Optional.empty(), false, List.of())));
    }

    private List<EnforcementWatch.Change> measure(long usedMib) {
        return watch.measured(DEVICE, Map.of(RANK.pid(), mib(usedMib)));
    }

    private static EnforcementWatch.Bound bound(long burstMib) {
        return new EnforcementWatch.Bound(mib(1000), mib(burstMib), Optional.of(mib(1000)));
    }

    @BeforeEach
    void ceilingOfAThousand() {
        watch.reported(report(Optional.of(PhaseLimits.uniform(mib(1000))), mib(1000)));
    }

    @Test
    void theAlarmNeedsAFewReadingsInARowAndTheFirstWithinEndsIt() {
        assertThat(measure(1100)).isEmpty();
        assertThat(measure(1100)).isEmpty();
        assertThat(measure(1064)).isEmpty();
        assertThat(measure(1100)).isEmpty();
        assertThat(measure(1100)).isEmpty();

        assertThat(measure(1200)).containsExactly(new EnforcementWatch.Change(RANK, true, mib(1200), bound(0)));

        assertThat(measure(1300)).isEmpty();
        assertThat(watch.problems(DEVICE, Map.of(RANK.pid(), mib(1300)), List.of()))
                .containsExactly("rank bert/3 (process 4242) uses 1.3 GiB, more than its ceiling of 1000.0 MiB");
        assertThat(watch.held(said(Optional.empty()))
                        .enforcement()
                        .orElseThrow()
                        .overCeiling())
                .isTrue();
        assertThat(measure(1000)).containsExactly(new EnforcementWatch.Change(RANK, false, mib(1000), bound(0)));
        assertThat(watch.problems(DEVICE, Map.of(), List.of())).isEmpty();
    }

    @Test
    void itIsCountingFromTheFirstReadingAboveUntilThereIsAnAlarmOrNone() {
        assertThat(watch.isCounting()).isFalse();
        measure(1100);
        assertThat(watch.isCounting()).isTrue();
        measure(900);
        assertThat(watch.isCounting()).isFalse();
        measure(1100);
        measure(1100);
        assertThat(watch.isCounting()).isTrue();
        measure(1100);
        assertThat(watch.isCounting()).isFalse();
    }

    @Test
    void itSaysWhetherALedgerSaysAnythingElse() {
        LimitsReported more = report(Optional.of(PhaseLimits.uniform(mib(2000))), mib(2000));
        assertThat(watch.reported(more)).isTrue();
        assertThat(watch.reported(more)).isFalse();
    }

    // With a turn a rank may use its burst on top of its ceiling; without this a rank in its turn would be an alarm.
    @Test
    void whatATurnAddsIsNotAboveTheCeiling() {
        LimitsReported plain = report(Optional.of(PhaseLimits.uniform(mib(1000))), mib(1000));
        LedgerReport ledger = plain.ledger();
        TurnPlan plan = new TurnPlan(mib(500), List.of(new TurnPlan.RankTurn(RANK, List.of(Phase.BACKWARD), mib(500))));
        TurnReport turns = new TurnReport(Optional.of(plan), mib(500), List.of(), List.of(), TurnReport.Counts.NONE);
        watch.reported(new LimitsReported(
                plain.node(),
                DEVICE,
                plain.token(),
                plain.revision(),
                new LedgerReport(
                        ledger.wanted(),
                        ledger.inForce(),
                        false,
                        ledger.grants(),
                        ledger.counts(),
                        Optional.of(turns))));

        assertThat(watch.ceilings(DEVICE)).containsEntry(RANK, mib(1500));
        for (int reading = 0; reading < 5; reading++) {
            assertThat(measure(1500)).isEmpty();
        }
        measure(1600);
        measure(1600);
        assertThat(measure(1600)).containsExactly(new EnforcementWatch.Change(RANK, true, mib(1600), bound(500)));
        assertThat(watch.problems(DEVICE, Map.of(RANK.pid(), mib(1600)), List.of()))
                .containsExactly("rank bert/3 (process 4242) uses 1.6 GiB, more than its ceiling of 1000.0 MiB and a"
                        + " turn's 500.0 MiB on top");
    }

    @Test
    void aReadingThatIsNotKnownNeitherRaisesNorClears() {
        measure(1100);
        measure(1100);
        assertThat(watch.measured(DEVICE, Map.of())).isEmpty();
        assertThat(measure(1100)).hasSize(1);
        assertThat(watch.measured(DEVICE, Map.of())).isEmpty();
        assertThat(watch.problems(DEVICE, Map.of(), List.of())).hasSize(1);
    }

    @Test
    void aProcessThatWasNeverGivenALimitIsNotAboveIt() {
        watch.reported(report(Optional.empty(), MemoryBytes.ZERO));
        measure(500);
        measure(500);
        measure(500);

        assertThat(watch.problems(DEVICE, Map.of(RANK.pid(), mib(500)), List.of()))
                .isEmpty();
    }

    @Test
    void whatIsFoundFromOutsideGoesBeforeWhatTheRankSays() {
        watch.found(RANK, Map.of(EnforcedBy.HAMI_CORE, new Holds(Optional.of(mib(1000)))));

        RankSample held = watch.held(said(Optional.of(new Overhead(mib(512), true))));

        assertThat(held.enforcedBy()).isEqualTo(EnforcedBy.HAMI_CORE);
        RankEnforcement how = held.enforcement().orElseThrow();
        assertThat(how.inForce()).contains(mib(1000));
        assertThat(how.overhead()).contains(new Overhead(mib(512), true));
        assertThat(how.whyNotHigher()).hasSize(1);
        watch.reported(report(Optional.empty(), MemoryBytes.ZERO));
        watch.found(RANK, Map.of(EnforcedBy.HAMI_CORE, new Holds(Optional.of(mib(1000)))));
        assertThat(watch.held(said(Optional.empty())).enforcedBy()).isEqualTo(EnforcedBy.ADVISORY);
    }

    // No client is in the process: nobody could say that another limit cannot be taken.
    @Test
    void aRankThatItsVariablesHoldNeedsARestartForAnyOtherLimit() {
        watch.found(RANK, Map.of(EnforcedBy.ENV, new Holds(Optional.of(mib(1000)))));
        RankSample same = watch.held(said(Optional.empty()));
        assertThat(same.enforcedBy()).isEqualTo(EnforcedBy.ENV);
        assertThat(same.enforcement().orElseThrow().inForce()).contains(mib(1000));
        assertThat(same.needsRestart()).isEmpty();

        watch.reported(report(Optional.of(PhaseLimits.uniform(mib(600))), mib(1000)));
        assertThat(watch.held(said(Optional.empty())).needsRestart()).hasValueSatisfying(needs -> {
            assertThat(needs.inForce()).isEqualTo(mib(1000));
            assertThat(needs.limit()).isEqualTo(mib(600));
        });
    }

    @Test
    void whatARankSaysOfItsOwnVariablesStaysWhenNothingOfThemIsSeen() {
        RankSample plain = said(Optional.empty());
        RankSample byItself =
                new RankSample(RANK, plain.facts(), plain.activity(), plain.use(), EnforcedBy.ENV, true, 0);
        watch.found(RANK, Map.of(EnforcedBy.ENV, new Ladder.NotPossible("its framework was given no limit")));

        assertThat(watch.held(byItself).enforcedBy()).isEqualTo(EnforcedBy.ENV);
        assertThat(watch.held(plain).enforcedBy()).isEqualTo(EnforcedBy.ADVISORY);
    }

    /** Case C01, second entry. */
    @Test
    void aLimitBelowWhatTheProcessNeedsBesideItsAllocatorIsAProblemWithBothFigures() {
        watch.reported(report(Optional.of(PhaseLimits.uniform(mib(100))), mib(100)));

        assertThat(watch.problems(DEVICE, Map.of(), List.of(said(Optional.of(new Overhead(mib(430), false))))))
                .singleElement()
                .asString()
                .startsWith("rank bert/3: a limit of 100.0 MiB leaves its allocator nothing")
                .contains("430.0 MiB");
    }
}
