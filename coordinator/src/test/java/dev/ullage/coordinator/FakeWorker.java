package dev.ullage.coordinator;

import static dev.ullage.coordinator.Fixtures.gib;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.Grant;
import dev.ullage.common.ledger.LedgerCommand;
import dev.ullage.common.ledger.LedgerDecision;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.ledger.LedgerEvent.Opened;
import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.OomKind;
import dev.ullage.common.model.Phase;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.common.protocol.JobReport;
import dev.ullage.common.protocol.KeeperCounts;
import dev.ullage.common.protocol.OomReport;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.JobsReported;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.StaleCoordinator;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.common.protocol.ToWorker.DesireLimits;
import dev.ullage.common.protocol.ToWorker.DirectJob;
import dev.ullage.common.protocol.ToWorker.LearnFrom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;

/**
 * A worker with one 80 GiB device around the real ledger, driven by the test: it reads a message only when told to, and
 * its ranks confirm only when told to.
 */
final class FakeWorker {
    final NodeId node;
    final DeviceId device;
    private final TestProbe<ToWorker> inbox;
    private final ActorRef<ToCoordinator> coordinator;
    private DeviceLedger ledger;
    private long revision;

    FakeWorker(String node, ActorTestKit kit, ActorRef<ToCoordinator> coordinator) {
        this.node = new NodeId(node);
        this.device = new DeviceId("GPU-" + node);
        this.inbox = kit.createTestProbe();
        this.coordinator = coordinator;
        this.ledger =
                DeviceLedger.open(new Opened(device, new BudgetTerms(gib(80), Fixtures.RESERVE, MemoryBytes.ZERO)));
    }

    void announce() {
        coordinator.tell(Fixtures.announced(node, ledger.highestToken(), inbox.getRef(), device));
    }

    void announceWithVersion(int version) {
        coordinator.tell(new ToCoordinator.WorkerAnnounced(
                node, version, Optional.empty(), List.of(Fixtures.info(device)), inbox.getRef()));
    }

    /** The next message is the wish to learn; obeys and reports. */
    LearnFrom learns() {
        LearnFrom message = inbox.expectMessageClass(LearnFrom.class);
        decide(new LedgerCommand.Acknowledge(message.token()));
        report();
        return message;
    }

    /** The next message is a plan; works on it and reports. */
    DesireLimits desired() {
        DesireLimits message = inbox.expectMessageClass(DesireLimits.class);
        decide(new LedgerCommand.Desire(
                message.token(),
                message.reserve(),
                message.limits().stream()
                        .map(limit -> new LedgerCommand.DesiredLimit(limit.instance(), limit.limits(), limit.share()))
                        .toList()));
        revision = message.revision();
        report();
        return message;
    }

    /** The next message is a plan, and it is lost on the way. */
    DesireLimits loses() {
        return inbox.expectMessageClass(DesireLimits.class);
    }

    /** The next message is what the ranks of a job are to do; it is lost on the way. */
    DirectJob isDirected() {
        return inbox.expectMessageClass(DirectJob.class);
    }

    /** Rank 0, the only one of its job, ran out of memory with eight samples at once. */
    void reportsAJobThatRanOut(CoordinatorToken token) {
        OomReport report = new OomReport(
                Fixtures.rank(0),
                0,
                7,
                Phase.BACKWARD,
                OomKind.DEVICE_FULL,
                OomReport.Figures.UNKNOWN,
                new OomReport.Means(OptionalInt.of(8), OptionalInt.of(8), List.of(), true));
        reportsJob(token, Optional.empty(), List.of(report));
    }

    /** It holds the directive for that job. */
    void reportsJobWith(CoordinatorToken token, JobDirective newest) {
        reportsJob(token, Optional.of(newest), List.of());
    }

    private void reportsJob(CoordinatorToken token, Optional<JobDirective> newest, List<OomReport> pending) {
        JobReport job =
                new JobReport(Fixtures.JOB, OptionalInt.of(1), List.of(Fixtures.rank(0)), newest, pending, List.of());
        coordinator.tell(new JobsReported(node, Optional.of(token), List.of(job)));
    }

    void expectNothing() {
        inbox.expectNoMessage(Duration.ofMillis(50));
    }

    void joins(int rank) {
        decide(new LedgerCommand.Join(Fixtures.rank(rank), 0, MemoryBytes.ZERO));
        report();
    }

    void leaves(int rank) {
        decide(new LedgerCommand.Leave(Fixtures.rank(rank)));
        report();
    }

    /** The rank applied its newest order. */
    void confirms(int rank) {
        Grant grant = ledger.grant(Fixtures.rank(rank)).orElseThrow();
        decide(new LedgerCommand.Confirm(grant.instance(), grant.sequence(), grant.targetMax()));
        report();
    }

    /** A coordinator that the one under test cannot see. */
    void obeys(CoordinatorToken token) {
        decide(new LedgerCommand.Acknowledge(token));
    }

    void saysStale(CoordinatorToken used) {
        coordinator.tell(
                new StaleCoordinator(node, device, used, ledger.highestToken().orElseThrow()));
    }

    void report() {
        coordinator.tell(new LimitsReported(node, device, ledger.highestToken(), revision, ledgerReport()));
    }

    private void decide(LedgerCommand command) {
        LedgerDecision decision = ledger.decide(command);
        for (LedgerEvent event : decision.events()) {
            ledger = ledger.apply(event);
        }
    }

    private LedgerReport ledgerReport() {
        return new LedgerReport(
                ledger.wanted(),
                ledger.inForce(),
                ledger.isOverBudget(),
                ledger.grants().stream()
                        .map(grant -> new GrantReport(
                                grant.instance(),
                                grant.share(),
                                grant.target(),
                                grant.sequence(),
                                grant.confirmedSequence(),
                                grant.ceiling()))
                        .toList(),
                KeeperCounts.NONE);
    }
}
