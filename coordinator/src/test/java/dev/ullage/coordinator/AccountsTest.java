package dev.ullage.coordinator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RankAccount;
import dev.ullage.common.protocol.RankAccounts;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.AccountsQuery;
import dev.ullage.common.protocol.ToCoordinator.JobsReported;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToOperator.Accounts;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.common.testing.TestClock;
import dev.ullage.config.CoordinatorSettings;
import dev.ullage.config.LimitSettings;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What workers tell of their ranks reaches whoever asks, in every state and from known workers alone. */
class AccountsTest {
    private static final NodeId NODE = new NodeId("a");

    private final ActorTestKit kit = ActorTestKit.create();
    private final TestProbe<ToOperator> operator = kit.createTestProbe();
    private final ActorRef<ToCoordinator> coordinator = kit.spawn(CoordinatorActor.create(
            CoordinatorSettings.defaults(), LimitSettings.defaults(), new NodeId("c"), () -> "me", new TestClock()));

    @AfterEach
    void stop() {
        kit.shutdownTestKit();
    }

    private static JobsReported told() {
        RankAccount account = new RankAccount(
                Fixtures.joined(0).instance(),
                new DeviceId("GPU-a"),
                OptionalInt.empty(),
                5_000,
                OptionalLong.of(1_000),
                new RankAccount.Memory(
                        Optional.empty(),
                        Optional.of(MemoryBytes.ofGibibytes(1)),
                        List.of(),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty()),
                Optional.empty());
        return new JobsReported(NODE, Optional.empty(), List.of(), Optional.of(new RankAccounts(List.of(account))));
    }

    private Accounts asked() {
        coordinator.tell(new AccountsQuery(Fixtures.joined(0).instance().rank().job(), operator.getRef()));
        return operator.expectMessageClass(Accounts.class);
    }

    @Test
    void aJobThatHasEndedIsThereAsSoonAsItsWorkerHasToldIt() {
        coordinator.tell(told());
        assertThat(asked().ranks()).as("a worker that is not announced").isEmpty();

        coordinator.tell(Fixtures.announced(
                NODE, Optional.empty(), kit.<ToWorker>createTestProbe().ref(), new DeviceId("GPU-a")));
        coordinator.tell(told());

        assertThat(asked().ranks())
                .singleElement()
                .satisfies(one -> assertThat(one.account().memory().peak()).contains(MemoryBytes.ofGibibytes(1)));
    }
}
