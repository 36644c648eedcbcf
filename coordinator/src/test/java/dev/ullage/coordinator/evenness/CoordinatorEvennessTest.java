package dev.ullage.coordinator.evenness;

import static dev.ullage.coordinator.Fixtures.JOB;
import static dev.ullage.coordinator.Fixtures.NODE;
import static dev.ullage.coordinator.Fixtures.T0;
import static dev.ullage.coordinator.Fixtures.rank;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.protocol.BatchShares;
import dev.ullage.common.protocol.ClusterEvent;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.common.protocol.JobReport;
import dev.ullage.common.protocol.ToCoordinator.JobsReported;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.config.CoordinatorSettings;
import dev.ullage.config.EvennessSettings;
import dev.ullage.config.EvennessSettings.Mode;
import dev.ullage.config.LimitSettings;
import dev.ullage.coordinator.CoordinatorEffect;
import dev.ullage.coordinator.CoordinatorEffect.Direct;
import dev.ullage.coordinator.CoordinatorEffect.Recorded;
import dev.ullage.coordinator.CoordinatorLogic;
import dev.ullage.coordinator.decisions.Decision.Kind;
import dev.ullage.coordinator.evenness.TrainedJob.Member;
import dev.ullage.coordinator.view.DeviceView;
import dev.ullage.coordinator.view.Heard;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** From what workers say to the order that they are sent. */
class CoordinatorEvennessTest {
    private final TrainedJob job =
            TrainedJob.of(80, new Member(64_000, 8_000, 0, 1_000), new Member(32_000, 8_000, 0, 1_000));
    private Optional<JobDirective> held = Optional.empty();
    private final List<CoordinatorEffect> effects = new ArrayList<>();

    private static CoordinatorLogic logic(Mode mode) {
        EvennessSettings even = EvennessSettings.defaults();
        EvennessSettings often = new EvennessSettings(
                mode, Duration.ofSeconds(1), even.looks(), even.unevenFrom(), even.gainFrom(), even.maxOrders());
        return new CoordinatorLogic(
                CoordinatorSettings.defaults().with(often), LimitSettings.defaults(), new NodeId("c-1"), "me", T0);
    }

    private void run(CoordinatorLogic logic, int seconds) {
        for (int tick = 0; tick < 4 * seconds; tick++) {
            Instant now = T0.plusMillis(250L * tick);
            tell(logic, now);
            logic.onTick(now);
            logic.takeEffects().forEach(effect -> {
                effects.add(effect);
                if (effect instanceof Direct direct) {
                    held = Optional.of(direct.directive());
                    job.follow(direct.directive());
                }
            });
        }
    }

    private void tell(CoordinatorLogic logic, Instant now) {
        Optional<CoordinatorToken> mine = logic.leadership().token();
        logic.onAnnounced(job.announced(), false, now);
        for (DeviceView device : job.view().devices()) {
            LimitsReported said = device.report().map(Heard::message).orElseThrow();
            logic.onReported(new LimitsReported(NODE, said.device(), mine, 0, said.ledger()), now);
            device.sample().ifPresent(heard -> logic.onSampled(heard.message(), now));
        }
        List<JobReport.Applied> applied = held.stream()
                .flatMap(directive -> List.of(rank(0), rank(1)).stream()
                        .map(rank -> new JobReport.Applied(rank, directive.sequence(), Optional.empty())))
                .toList();
        logic.onJobs(
                new JobsReported(
                        NODE,
                        mine,
                        List.of(new JobReport(
                                JOB, OptionalInt.of(2), List.of(rank(0), rank(1)), held, List.of(), applied))),
                now);
    }

    private long sent() {
        return effects.stream().filter(effect -> effect instanceof Direct).count();
    }

    private static List<String> kinds(CoordinatorLogic logic) {
        return logic.events(Optional.empty()).events().stream()
                .map(ClusterEvent::kind)
                .filter(kind -> kind.startsWith("batch-shares"))
                .toList();
    }

    @Test
    void anUnevenJobIsOrderedSharesOnceAndItIsRecordedAndTold() {
        CoordinatorLogic logic = logic(Mode.ON);

        run(logic, 30);

        assertThat(sent()).isEqualTo(1);
        assertThat(held.flatMap(JobDirective::shares)).contains(new BatchShares(1, 1, 1, List.of(56, 24)));
        assertThat(kinds(logic)).containsExactly("batch-shares-ordered");
        assertThat(effects.stream()
                        .filter(effect ->
                                effect instanceof Recorded one && one.decision().kind() == Kind.BATCH_SHARES)
                        .count())
                .isEqualTo(1);
        assertThat(logic.status(T0).evenness().orElseThrow().jobs().get(0).samples())
                .containsExactly(56, 24);
    }

    @Test
    void asShippedItIsOnlySuggested() {
        CoordinatorLogic logic = logic(EvennessSettings.defaults().mode());

        run(logic, 30);

        assertThat(sent()).isZero();
        assertThat(kinds(logic)).containsExactly("batch-shares-suggested");
    }
}
