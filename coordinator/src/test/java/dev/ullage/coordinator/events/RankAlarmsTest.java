package dev.ullage.coordinator.events;

import static dev.ullage.common.testing.Fixtures.rank;
import static dev.ullage.coordinator.Fixtures.DEVICE;
import static dev.ullage.coordinator.Fixtures.NODE;
import static dev.ullage.coordinator.Fixtures.T0;
import static dev.ullage.coordinator.Fixtures.announced;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.EventSeverity;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankEnforcement;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.RankWatch.LeakState;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.coordinator.view.ClusterView;
import dev.ullage.coordinator.view.DeviceView;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.apache.pekko.actor.testkit.typed.javadsl.TestInbox;
import org.junit.jupiter.api.Test;

class RankAlarmsTest {
    private static final ClusterView EMPTY = ClusterView.EMPTY.with(
            announced(NODE, Optional.empty(), TestInbox.<ToWorker>create().getRef(), DEVICE), T0);

    private static DeviceView device(RankSample... ranks) {
        DeviceSampled sampled =
                new DeviceSampled(NODE, DEVICE, 0, Optional.empty(), Optional.empty(), List.of(ranks), List.of());
        return EMPTY.with(sampled, T0).device(DEVICE).orElseThrow();
    }

    private static RankSample sample(boolean isAbove, LeakState leak) {
        OptionalLong growth =
                leak == LeakState.SUSPECTED ? OptionalLong.of(MemoryBytes.MEBIBYTE) : OptionalLong.empty();
        RankWatch watch = new RankWatch(
                new RankWatch.Progress(OptionalLong.of(9), OptionalLong.empty(), 9),
                List.of(),
                new RankWatch.Allocator(
                        OptionalLong.empty(),
                        OptionalLong.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        OptionalLong.empty(),
                        OptionalLong.empty()),
                new RankWatch.Leak(leak, growth, Optional.of(Share.ofPercent(99)), 80),
                List.of(),
                Optional.empty());
        return new RankSample(
                rank(3),
                new RankFacts(OptionalInt.of(8), OptionalInt.of(3), "torchrun", 0, Optional.empty(), List.of()),
                new RankSample.Activity(Phase.FORWARD, OptionalLong.of(9)),
                RankUse.UNKNOWN,
                EnforcedBy.ADVISORY,
                true,
                0,
                Optional.empty(),
                Optional.of(watch),
                Optional.of(new RankEnforcement(
                        Optional.of(MemoryBytes.ofGibibytes(40)),
                        Optional.empty(),
                        Optional.empty(),
                        isAbove,
                        List.of())));
    }

    @Test
    void aRankAboveItsCeilingIsSaidOnceAndThatItIsOverOnce() {
        DeviceView within = device(sample(false, LeakState.NONE));
        DeviceView above = device(sample(true, LeakState.NONE));

        List<Change> raised = RankAlarms.between(Optional.of(within), above);

        assertThat(raised).singleElement().satisfies(change -> {
            assertThat(change.kind()).isEqualTo(EventKind.ABOVE_CEILING);
            assertThat(change.severity()).isEqualTo(EventSeverity.WARNING);
            assertThat(change.about().rank()).hasValue(3);
            assertThat(change.text()).endsWith(", held to its limit by advisory, uses 40.0 GiB: more than its ceiling");
        });
        assertThat(RankAlarms.between(Optional.of(above), above)).isEmpty();
        assertThat(RankAlarms.between(Optional.of(above), within))
                .extracting(Change::kind)
                .containsExactly(EventKind.WITHIN_CEILING);
        assertThat(RankAlarms.between(Optional.empty(), above)).hasSize(1);
    }

    @Test
    void aLeakIsSaidWhenItIsFirstSuspected() {
        DeviceView before = device(sample(false, LeakState.UNKNOWN));
        DeviceView leaking = device(sample(false, LeakState.SUSPECTED));

        assertThat(RankAlarms.between(Optional.of(before), leaking))
                .singleElement()
                .satisfies(change -> {
                    assertThat(change.kind()).isEqualTo(EventKind.LEAK_SUSPECTED);
                    assertThat(change.text()).endsWith("grows by 1.0 MiB a step, over 80 steps");
                });
        assertThat(RankAlarms.between(Optional.of(leaking), leaking)).isEmpty();
    }

    @Test
    void aRankThatIsGoneRaisesNothing() {
        assertThat(RankAlarms.between(Optional.of(device(sample(true, LeakState.SUSPECTED))), device()))
                .isEmpty();
    }
}
