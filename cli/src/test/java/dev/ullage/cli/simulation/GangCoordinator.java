package dev.ullage.cli.simulation;

import dev.ullage.common.ledger.LedgerCommand;
import dev.ullage.common.ledger.LedgerCommand.Acknowledge;
import dev.ullage.common.ledger.LedgerCommand.CommitReservation;
import dev.ullage.common.ledger.LedgerCommand.Desire;
import dev.ullage.common.ledger.LedgerCommand.DesiredLimit;
import dev.ullage.common.ledger.LedgerCommand.ReleaseReservation;
import dev.ullage.common.ledger.LedgerCommand.Reserve;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.model.Share;
import dev.ullage.common.model.Weight;
import dev.ullage.common.protocol.RequestState;
import dev.ullage.common.protocol.ReservationReport;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.DeviceWatched;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.ReservationRefused;
import dev.ullage.common.protocol.ToCoordinator.SubmitRequest;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.config.QueueSettings;
import dev.ullage.coordinator.admission.AdmissionDesk;
import dev.ullage.coordinator.admission.AdmissionDesk.Cluster;
import dev.ullage.coordinator.admission.GangAttempt.Send;
import dev.ullage.coordinator.admission.GangAttempt.Step;
import dev.ullage.coordinator.events.Change;
import dev.ullage.coordinator.events.EventKind;
import dev.ullage.coordinator.planning.RoomToMake;
import dev.ullage.coordinator.view.ClusterView;
import dev.ullage.coordinator.view.DeviceView;
import java.time.Duration;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * A coordinator of {@link GangSimulation}: the production {@link AdmissionDesk}, with leadership in short: claims, is
 * active once it has heard of all devices with its token or has waited for them, claims again when it sees a higher
 * one.
 */
final class GangCoordinator {
    private static final Weight WEIGHT = new Weight(10_000);
    /** Longer than a link is cut: no coordinator that workers hear thinks that a submitter is gone who is not. */
    private static final Duration IDLE_FOR = Duration.ofSeconds(22);

    private static final Duration NEVER = Duration.ofDays(1);
    private static final Duration FORGET_AFTER = Duration.ofSeconds(30);
    private static final int LEARN_MILLIS = 1_000;

    private final GangSimulation world;
    final int endpoint;
    private final String uid;
    private CoordinatorToken token;
    private ClusterView view = ClusterView.EMPTY;
    private final AdmissionDesk desk;
    private final NavigableSet<JobId> placedHere = new TreeSet<>();
    private final NavigableSet<JobId> foundHere = new TreeSet<>();
    private final NavigableSet<String> releasedOnce = new TreeSet<>();
    private long claimAt;
    private int ticks;

    GangCoordinator(GangSimulation world, int endpoint, String uid, long epoch) {
        this.world = world;
        this.endpoint = endpoint;
        this.uid = uid;
        this.token = new CoordinatorToken(epoch, uid);
        this.claimAt = world.time().nowMillis() + 300;
        boolean hasLease = world.mutant() != GangMutant.NO_LEASE;
        this.desk = new AdmissionDesk(new QueueSettings(
                WEIGHT,
                WEIGHT,
                WEIGHT,
                Duration.ofHours(1),
                hasLease ? Duration.ofSeconds(6) : NEVER,
                hasLease ? IDLE_FOR : NEVER,
                Duration.ofSeconds(1),
                1_000));
    }

    CoordinatorToken token() {
        return token;
    }

    private boolean isClaiming() {
        return world.time().nowMillis() < claimAt;
    }

    private boolean isActive() {
        return !isClaiming()
                && !view.devices().isEmpty()
                && (obeying().size() == world.devices().size() || world.time().nowMillis() >= claimAt + LEARN_MILLIS);
    }

    private List<DeviceView> obeying() {
        return view.devices().stream().filter(device -> device.obeys(token)).toList();
    }

    private Cluster cluster() {
        return new Cluster(view, token, Set.of(), (device, than) -> RoomToMake.NONE);
    }

    // ---- from workers

    void hear(GangHost.Report heard) {
        LimitsReported report = heard.limits();
        if (view.node(report.node()).isEmpty()) {
            view = view.with(heard.announced(), world.time().now());
        }
        DeviceSampled sample = heard.sample();
        DeviceWatched watched =
                new DeviceWatched(sample.node(), sample.device(), new SampleQuality(SampleState.FRESH, 0));
        view = view.with(sample, world.time().now())
                .with(watched, world.time().now())
                .with(report, world.time().now());
        report.token().filter(token::isOlderThan).ifPresent(this::claimAgain);
        if (world.mutant() == GangMutant.COMMIT_BEFORE_ALL_ARE_RESERVED
                && report.token().equals(Optional.of(token))) {
            report.ledger().reservations().orElseThrow().stream()
                    .filter(one ->
                            !one.committed() && one.reservation().id().token().equals(token))
                    .forEach(one -> tell(
                            report.device(),
                            new CommitReservation(token, one.reservation().id())));
        }
    }

    private void claimAgain(CoordinatorToken seen) {
        token = new CoordinatorToken(seen.epoch() + 1, uid);
        world.note(What.LEADERSHIP, endpoint, () -> this + " claims again: it saw " + seen);
        desk.forget();
        placedHere.clear();
        foundHere.clear();
        claimAt = world.time().nowMillis() + world.dice().between(500, 4_000);
    }

    // ---- from submitters and operators

    /** Empty: it does not know the cluster yet. */
    Optional<ToOperator> submit(SubmitRequest request) {
        return isActive()
                ? Optional.of(desk.submit(request, cluster(), world.time().now()))
                : Optional.empty();
    }

    void cancel(JobId job, boolean hasEnded) {
        if (isActive()) {
            desk.cancel(job, hasEnded, world.time().now());
        }
    }

    void requeue(JobId job) {
        if (isActive()) {
            desk.requeue(job, world.time().now());
        }
    }

    /** Of the jobs it has placed, or found. */
    List<JobId> jobs(String state) {
        return desk.requests(Optional.empty(), cluster(), world.time().now()).states().stream()
                .filter(request -> request.state().equals(state))
                .map(request -> request.request().job())
                .toList();
    }

    // ---- on its own

    void tick() {
        ticks++;
        boolean isPause = !world.isStormy() && ticks % 2 == 1;
        if (isClaiming() || isPause) {
            return;
        }
        view = view.forgetting(world.time().now(), FORGET_AFTER);
        if (ticks % 4 == 0) {
            NavigableSet<DeviceId> silent = new TreeSet<>(world.devices());
            obeying().forEach(device -> silent.remove(device.id()));
            silent.forEach(device -> tell(device, new Acknowledge(token)));
        }
        if (!isActive()) {
            return;
        }
        AdmissionDesk.Turn turn = desk.tick(cluster(), world.time().now());
        turn.changes().forEach(this::changed);
        turn.sends().forEach(this::send);
        if (ticks % 4 == 2) {
            noteFound();
            obeying().forEach(device -> plan(device.report().orElseThrow().message()));
        }
    }

    private void changed(Change change) {
        world.note(What.RESERVATION, endpoint, () -> this + ": " + change.text());
        if (change.kind() == EventKind.JOB_PLACED) {
            change.about().job().ifPresent(placedHere::add);
            change.about().job().ifPresent(job -> world.disturber().placed(job, this));
        }
    }

    private void noteFound() {
        for (JobId job : jobs(RequestState.PLACED)) {
            if (!placedHere.contains(job) && foundHere.add(job)) {
                world.found(job, this);
            }
        }
    }

    private void send(Send send) {
        Reservation reservation = send.reservation();
        boolean isRepeated = send.step() == Step.RELEASE && !releasedOnce.add(reservation.id() + " " + send.device());
        boolean isForeign = !reservation.id().token().equals(token);
        boolean isDropped = send.step() == Step.RELEASE
                && ((world.mutant() == GangMutant.RELEASE_NOT_RETRIED && isRepeated)
                        || (world.mutant() == GangMutant.RECOVERY_KEEPS_PARTS && isForeign));
        if (isDropped) {
            return;
        }
        if (send.step() == Step.COMMIT && world.mutant() == GangMutant.TOLD_BEFORE_ALL_ARE_COMMITTED) {
            world.promises().told(reservation.id().job(), GangPromises.layout(reservation));
        }
        ReservationId id = reservation.id();
        tell(
                send.device(),
                switch (send.step()) {
                    case RESERVE -> new Reserve(token, reservation);
                    case COMMIT -> new CommitReservation(token, id);
                    case RELEASE -> new ReleaseReservation(token, id);
                });
    }

    private void tell(DeviceId device, LedgerCommand command) {
        world.toDevice(this, device, command);
    }

    void refused(ReservationRefused refused) {
        desk.refused(refused, world.time().now());
    }

    /** Any plan will do; ranks of a job with a reservation are to have their part. */
    private void plan(LimitsReported report) {
        List<DesiredLimit> limits = report.ledger().grants().stream()
                .map(grant -> new DesiredLimit(
                        grant.instance(),
                        PhaseLimits.uniform(reserved(report, grant.instance())
                                .orElseGet(() ->
                                        MemoryBytes.ofGibibytes(world.dice().between(1, 45)))),
                        Share.ALL))
                .toList();
        tell(report.device(), new Desire(token, Share.ofPercent(20), limits));
    }

    private static Optional<MemoryBytes> reserved(LimitsReported report, RankInstance rank) {
        return report.ledger().reservations().orElseThrow().stream()
                .map(ReservationReport::reservation)
                .filter(one -> one.id().job().equals(rank.rank().job()))
                .flatMap(one -> one.part(report.device()).stream())
                .map(ReservedPart::perRank)
                .findFirst();
    }

    @Override
    public String toString() {
        return uid + " (" + token + ")";
    }
}
