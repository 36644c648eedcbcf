package dev.ullage.coordinator.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankAccount;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.RankAccounts;
import dev.ullage.common.protocol.ToCoordinator.JobsReported;
import dev.ullage.common.protocol.ToOperator.AccountOf;
import dev.ullage.common.protocol.ToOperator.Accounts;
import dev.ullage.coordinator.planning.DevicePlan;
import dev.ullage.coordinator.planning.DevicePlan.PlannedLimit;
import dev.ullage.coordinator.planning.PlanReason;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Which accounts a coordinator keeps, and what it tells of a job. */
class JobAccountsTest {
    private static final Instant T0 = Instant.EPOCH;
    private static final NodeId NODE = new NodeId("host-a");

    private final JobAccounts accounts = new JobAccounts();

    private static RankAccount account(String job, int rank, OptionalLong endedAgoMillis) {
        return new RankAccount(
                new RankInstance(new RankId(new JobId(job), rank), 100 + rank, 7),
                new DeviceId("GPU-a"),
                OptionalInt.of(2),
                90_000,
                endedAgoMillis,
                Runs.memory(),
                Optional.of(Runs.training()));
    }

    private void told(Instant now, RankAccount... list) {
        told(now, Optional.empty(), list);
    }

    private void told(Instant now, Optional<DevicePlan> plan, RankAccount... list) {
        accounts.observe(
                new JobsReported(NODE, Optional.empty(), List.of(), Optional.of(new RankAccounts(List.of(list)))),
                device -> plan,
                now);
    }

    private static DevicePlan plan(RankAccount account, PhaseLimits limits) {
        return new DevicePlan(
                account.device(),
                Share.ofPercent(20),
                List.of(new PlannedLimit(account.instance(), limits, Share.ALL, new PlanReason("test"))),
                new PlanReason("test"));
    }

    private Accounts of(String job, Instant now) {
        return accounts.of(new JobId(job), now);
    }

    @Test
    void theNewestOfEachProcessCountsWithItsAgeNow() {
        told(T0, account("bert", 0, OptionalLong.empty()), account("bert", 1, OptionalLong.empty()));
        told(T0.plusSeconds(1), account("bert", 0, OptionalLong.of(5)));

        List<AccountOf> ranks = of("bert", T0.plusSeconds(3)).ranks();
        assertThat(ranks).extracting(AccountOf::node).containsOnly(NODE);
        assertThat(ranks.get(0).account().endedAgoMillis()).hasValue(2_005);
        assertThat(ranks.get(1).account().beganAgoMillis()).isEqualTo(93_000);
    }

    @Test
    void anOlderWorkerTellsNoAccounts() {
        accounts.observe(new JobsReported(NODE, Optional.empty(), List.of()), device -> Optional.empty(), T0);

        assertThat(of("bert", T0)).isEqualTo(new Accounts(List.of(), 0, List.of()));
    }

    @Test
    void aPlanIsRememberedBeyondTheEndOfTheProcess() {
        RankAccount living = account("bert", 0, OptionalLong.empty());
        PhaseLimits limits = PhaseLimits.of(phase -> MemoryBytes.ofGibibytes(7));
        told(T0, Optional.of(plan(living, limits)), living);
        told(T0.plusSeconds(1), account("bert", 0, OptionalLong.of(5)));

        assertThat(of("bert", T0).ranks().get(0).planned()).contains(limits);
    }

    @Test
    void onlyOneRankBringsItsLossAlong() {
        told(T0, account("bert", 0, OptionalLong.empty()), account("bert", 1, OptionalLong.empty()));

        assertThat(of("bert", T0).ranks())
                .extracting(one ->
                        one.account().training().orElseThrow().losses().points().size())
                .containsExactly(2, 0);
    }

    @Test
    void theJobThatHasBeenQuietForLongestIsForgottenFirstAndComesBackNoMore() {
        for (int i = 0; i < JobAccounts.MAX_JOBS; i++) {
            told(T0, account("job-" + i, 0, OptionalLong.of(1_000L * (i + 1))));
        }
        told(T0.plusSeconds(1), account("new", 0, OptionalLong.empty()));

        RankAccount oldest =
                account("job-" + (JobAccounts.MAX_JOBS - 1), 0, OptionalLong.of(1_000L * JobAccounts.MAX_JOBS));
        assertThat(of(oldest.instance().rank().job().value(), T0).ranks()).isEmpty();
        told(T0.plusSeconds(2), oldest.later(2_000));
        assertThat(of(oldest.instance().rank().job().value(), T0).ranks()).isEmpty();
        assertThat(of("new", T0).ranks()).hasSize(1);
        assertThat(of("nobody", T0).known()).hasSize(20).startsWith(new JobId("new"), new JobId("job-0"));
    }

    @Test
    void ofAVeryLargeJobOnlySoManyAreTold() {
        for (int i = 0; i < JobAccounts.MAX_TOLD + 3; i++) {
            told(T0, account("large", i, OptionalLong.empty()));
        }

        assertThat(of("large", T0).ranks()).hasSize(JobAccounts.MAX_TOLD);
        assertThat(of("large", T0).leftOut()).isEqualTo(3);
    }
}
