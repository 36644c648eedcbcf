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
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.coordinator.admission.DeviceReservations;
import dev.ullage.coordinator.admission.GangAttempt;
import dev.ullage.coordinator.admission.GangAttempt.Send;
import dev.ullage.coordinator.admission.GangAttempt.State;
import dev.ullage.coordinator.admission.GangAttempt.Step;
import dev.ullage.coordinator.admission.GangRecovery;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A coordinator of {@link GangSimulation}: the production {@link GangAttempt} and {@link GangRecovery}, with leadership
 * in short: claims, is active once it has heard of some device with its token, claims again when it sees a higher one.
 */
final class GangCoordinator {
    private static final Duration RESEND = Duration.ofSeconds(1);
    private static final int LEARN_MILLIS = 1_000;
    /** How long the room of a job is kept of whose submitter nothing is heard. */
    private static final long LEASE_MILLIS = 5_000;

    private final GangSimulation world;
    final int endpoint;
    private final String uid;
    private CoordinatorToken token;
    private final NavigableMap<DeviceId, LimitsReported> reports = new TreeMap<>();
    private final NavigableMap<ReservationId, GangAttempt> attempts = new TreeMap<>();
    private final NavigableSet<String> releasedOnce = new TreeSet<>();
    private GangRecovery recovery = GangRecovery.NONE;
    private long claimAt;
    private long lastNumber;
    private int ticks;

    GangCoordinator(GangSimulation world, int endpoint, String uid, long epoch) {
        this.world = world;
        this.endpoint = endpoint;
        this.uid = uid;
        this.token = new CoordinatorToken(epoch, uid);
        this.claimAt = world.time().nowMillis() + 300;
    }

    private boolean isClaiming() {
        return world.time().nowMillis() < claimAt;
    }

    private boolean isActive() {
        return !isClaiming()
                && (reports.size() == world.devices().size()
                        || (!reports.isEmpty() && world.time().nowMillis() >= claimAt + LEARN_MILLIS));
    }

    List<GangAttempt> attempts() {
        return List.copyOf(attempts.values());
    }

    List<ReservationId> undecided() {
        return recovery.undecided();
    }

    void hear(LimitsReported report) {
        Optional<CoordinatorToken> said = report.token();
        if (said.filter(token::isOlderThan).isPresent()) {
            token = new CoordinatorToken(said.get().epoch() + 1, uid);
            world.note(What.LEADERSHIP, endpoint, () -> this + " claims again: it saw " + said.get());
            reports.clear();
            attempts.clear();
            recovery = GangRecovery.NONE;
            claimAt = world.time().nowMillis() + world.dice().between(500, 4_000);
            return;
        }
        if (!said.equals(Optional.of(token)) || isClaiming()) {
            return;
        }
        reports.put(report.device(), report);
        DeviceReservations shown = DeviceReservations.of(report);
        for (GangAttempt attempt : attempts()) {
            become(attempt, attempt.onReport(shown, world.time().now()));
            commitEarly(attempt, shown);
        }
    }

    private void commitEarly(GangAttempt attempt, DeviceReservations shown) {
        boolean isShown = shown.reservations().stream()
                .anyMatch(one ->
                        one.reservation().id().equals(attempt.reservation().id()));
        if (world.mutant() == GangMutant.COMMIT_BEFORE_ALL_ARE_RESERVED
                && attempt.state() == State.RESERVING
                && isShown) {
            tell(
                    shown.device(),
                    new CommitReservation(token, attempt.reservation().id()));
        }
    }

    void refused(DeviceId device, ReservationId id, CoordinatorToken by, String why) {
        GangAttempt attempt = attempts.get(id);
        if (attempt != null && by.equals(token)) {
            become(attempt, attempt.onRefused(device, why, world.time().now()));
        }
    }

    @Override
    public String toString() {
        return uid + " (" + token + ")";
    }

    /** Only here an attempt changes, so that everything that matters to the world is said to it. */
    private void become(GangAttempt before, GangAttempt after) {
        ReservationId id = after.reservation().id();
        if (before.state() != after.state()) {
            world.note(
                    What.RESERVATION,
                    endpoint,
                    () -> this + " takes " + id + " for " + after.state()
                            + after.reason().map(why -> ": " + why).orElse(""));
        }
        if (after.state() == State.ENDED) {
            attempts.remove(id);
            return;
        }
        attempts.put(id, after);
        boolean tells = world.mutant() == GangMutant.TOLD_BEFORE_ALL_ARE_COMMITTED
                ? after.state() == State.COMMITTING
                : after.isPlaced();
        if (tells && before.state() != after.state()) {
            world.told(after.reservation(), token);
        }
        if (before.isPlaced() && after.state() == State.RELEASING) {
            world.promises().givenBack(after.reservation(), token, reason(after));
        }
    }

    void tick() {
        if (isClaiming()) {
            return;
        }
        ticks++;
        if (ticks % 4 == 1) {
            for (DeviceId device : world.devices()) {
                if (!reports.containsKey(device)) {
                    tell(device, new Acknowledge(token));
                }
            }
        }
        if (!isActive()) {
            return;
        }
        recover();
        expire();
        for (GangAttempt attempt : attempts()) {
            GangAttempt.Turn turn = attempt.turn(world.time().now(), RESEND);
            become(attempt, turn.attempt());
            turn.sends().forEach(this::send);
        }
        if (ticks % 4 == 2) {
            reports.values().forEach(this::plan);
        }
    }

    private void recover() {
        List<DeviceReservations> shown =
                reports.values().stream().map(DeviceReservations::of).toList();
        GangRecovery.Turn turn =
                recovery.turn(shown, token, attempts::containsKey, world.time().now());
        recovery = turn.recovery();
        for (GangAttempt found : turn.found()) {
            if (found.isPlaced()) {
                world.found(found.reservation(), token);
            } else {
                world.note(
                        What.RESERVATION,
                        endpoint,
                        () -> this + " gives back " + found.reservation().id() + ": " + reason(found));
                world.promises().givenBack(found.reservation(), token, reason(found));
            }
            if (found.isPlaced() || world.mutant() != GangMutant.RECOVERY_KEEPS_PARTS) {
                attempts.put(found.reservation().id(), found);
            }
        }
    }

    private static String reason(GangAttempt attempt) {
        return attempt.reason().orElse("no reason");
    }

    /** As the desk does for requests: a job of which nothing is heard any more is over. */
    private void expire() {
        for (GangAttempt attempt : attempts()) {
            boolean isOver = world.promises()
                    .silentSince(attempt.reservation().id())
                    .filter(since -> world.time().nowMillis() - since >= LEASE_MILLIS)
                    .isPresent();
            if (attempt.isPlaced() && isOver) {
                become(
                        attempt,
                        attempt.release(
                                "nothing was heard of its submitter",
                                world.time().now()));
            }
        }
    }

    private void send(Send send) {
        ReservationId id = send.reservation().id();
        if (send.step() == Step.RELEASE
                && world.mutant() == GangMutant.RELEASE_NOT_RETRIED
                && !releasedOnce.add(id + " " + send.device())) {
            return;
        }
        tell(
                send.device(),
                switch (send.step()) {
                    case RESERVE -> new Reserve(token, send.reservation());
                    case COMMIT -> new CommitReservation(token, id);
                    case RELEASE -> new ReleaseReservation(token, id);
                });
    }

    private void tell(DeviceId device, LedgerCommand command) {
        CoordinatorToken used = token;
        world.toDevice(this, device, command, (id, why) -> refused(device, id, used, why));
    }

    /** Any plan will do; ranks of a job with a reservation are to have their part. */
    private void plan(LimitsReported report) {
        List<DesiredLimit> limits = new ArrayList<>();
        report.ledger().grants().forEach(grant -> {
            MemoryBytes limit = reserved(report, grant.instance())
                    .orElseGet(() -> MemoryBytes.of(world.dice().between(1, 45)));
            limits.add(new DesiredLimit(grant.instance(), PhaseLimits.uniform(limit), Share.ALL));
        });
        tell(report.device(), new Desire(token, Share.ofPercent(20), limits));
    }

    private static Optional<MemoryBytes> reserved(LimitsReported report, RankInstance rank) {
        return report.ledger().reservations().orElseThrow().stream()
                .map(one -> one.reservation())
                .filter(one -> one.id().job().equals(rank.rank().job()))
                .flatMap(one -> one.part(report.device()).stream())
                .map(ReservedPart::perRank)
                .findFirst();
    }

    /** Somebody submits a job, with so much on each of these devices. */
    void submit(JobId job, List<DeviceId> devices, long amount) {
        if (!isActive()) {
            return;
        }
        List<ReservedPart> parts = devices.stream()
                .map(device -> new ReservedPart(world.nodeOf(device), device, MemoryBytes.of(amount), 1))
                .toList();
        ReservationId id = new ReservationId(job, token, ++lastNumber);
        attempts.put(
                id,
                GangAttempt.start(
                        new Reservation(id, Priority.MEDIUM, parts),
                        world.time().now()));
        world.submitted();
    }

    /** Somebody withdraws a job, or it is over. */
    void withdraw(GangAttempt attempt) {
        world.note(
                What.RESERVATION,
                endpoint,
                () -> attempt.reservation().id() + ": its submitter gives it back to " + this);
        world.promises().withdrawn(attempt.reservation(), token);
        become(attempt, attempt.release("withdrawn", world.time().now()));
    }
}
