package dev.ullage.coordinator;

import static dev.ullage.coordinator.Fixtures.T0;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.DeviceWatched;
import dev.ullage.common.protocol.ToCoordinator.DevicesSampled;
import dev.ullage.common.protocol.ToCoordinator.StatusQuery;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.SampleStatus;
import dev.ullage.common.protocol.ToWorker.LearnFrom;
import dev.ullage.common.protocol.ToWorker.Reads;
import dev.ullage.common.testing.TestClock;
import dev.ullage.config.CoordinatorSettings;
import dev.ullage.config.LimitSettings;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.ManualTime;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Readings of several devices in one message. */
class RoundOfReadingsTest {
    private static final CoordinatorSettings SETTINGS = CoordinatorSettings.defaults();

    private final ActorTestKit kit = ActorTestKit.create(ManualTime.config());
    private final ManualTime time = ManualTime.get(kit.system());
    private final TestClock clock = new TestClock(T0);
    private final TestProbe<ToOperator> operator = kit.createTestProbe();
    private final ActorRef<ToCoordinator> coordinator = kit.spawn(
            CoordinatorActor.create(SETTINGS, LimitSettings.defaults(), new NodeId("c-1"), () -> "me", clock));

    @AfterEach
    void stop() {
        kit.shutdownTestKit();
    }

    private ClusterStatus status() {
        coordinator.tell(new StatusQuery(operator.getRef()));
        return operator.expectMessageClass(ClusterStatus.class);
    }

    private LearnFrom learned(FakeWorker worker) {
        worker.announce();
        var unused = status();
        clock.advance(Duration.ofMillis(500));
        time.timePasses(SETTINGS.tick());
        return worker.learns();
    }

    private static DeviceSampled sampled(FakeWorker worker, DeviceId device, long used) {
        MemoryBytes total = MemoryBytes.ofGibibytes(80);
        MemoryBytes amount = MemoryBytes.ofGibibytes(used);
        MemoryUse memory = new MemoryUse(total, Optional.of(MemoryBytes.ZERO), amount, total.minus(amount));
        return new DeviceSampled(
                worker.node, device, 0, Optional.of(memory), Optional.of(MemoryBytes.ZERO), List.of(), List.of());
    }

    private Optional<SampleStatus> sample(DeviceId device) {
        return status().nodes().stream()
                .flatMap(node -> node.devices().stream())
                .filter(one -> one.info().id().equals(device))
                .flatMap(one -> one.sample().stream())
                .findFirst();
    }

    @Test
    void aWorkerIsToldThatItsRoundsAreRead() {
        assertThat(learned(new FakeWorker("a", kit, coordinator)).reads()).contains(new Reads(true));
    }

    @Test
    void eachReadingOfARoundCountsAsIfItHadComeByItself() {
        FakeWorker first = new FakeWorker("a", kit, coordinator);
        FakeWorker second = new FakeWorker("b", kit, coordinator);
        first.announce();
        second.announce();

        coordinator.tell(new DevicesSampled(
                first.node,
                List.of(sampled(first, first.device, 7), sampled(second, second.device, 9)),
                List.of(new DeviceWatched(first.node, first.device, new SampleQuality(SampleState.STALE, 5)))));

        assertThat(sample(first.device).flatMap(SampleStatus::memory).map(MemoryUse::used))
                .contains(MemoryBytes.ofGibibytes(7));
        assertThat(sample(second.device).flatMap(SampleStatus::memory).map(MemoryUse::used))
                .contains(MemoryBytes.ofGibibytes(9));
        assertThat(sample(first.device).flatMap(SampleStatus::quality).map(SampleQuality::state))
                .contains(SampleState.STALE);
        assertThat(sample(second.device).flatMap(SampleStatus::quality)).isEmpty();
    }
}
