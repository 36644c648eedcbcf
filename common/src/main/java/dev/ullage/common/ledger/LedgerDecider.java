package dev.ullage.common.ledger;

import dev.ullage.common.ledger.LedgerCommand.Acknowledge;
import dev.ullage.common.ledger.LedgerCommand.CommitReservation;
import dev.ullage.common.ledger.LedgerCommand.Confirm;
import dev.ullage.common.ledger.LedgerCommand.Desire;
import dev.ullage.common.ledger.LedgerCommand.DesiredLimit;
import dev.ullage.common.ledger.LedgerCommand.ExpireReservation;
import dev.ullage.common.ledger.LedgerCommand.Join;
import dev.ullage.common.ledger.LedgerCommand.Leave;
import dev.ullage.common.ledger.LedgerCommand.Measure;
import dev.ullage.common.ledger.LedgerCommand.ReleaseReservation;
import dev.ullage.common.ledger.LedgerCommand.Reserve;
import dev.ullage.common.ledger.LedgerEvent.LimitConfirmed;
import dev.ullage.common.ledger.LedgerEvent.LimitOrdered;
import dev.ullage.common.ledger.LedgerEvent.RankAdopted;
import dev.ullage.common.ledger.LedgerEvent.RankJoined;
import dev.ullage.common.ledger.LedgerEvent.RankLeft;
import dev.ullage.common.ledger.LedgerEvent.ReservationCommitted;
import dev.ullage.common.ledger.LedgerEvent.ReservationExpired;
import dev.ullage.common.ledger.LedgerEvent.ReservationMade;
import dev.ullage.common.ledger.LedgerEvent.ReservationReleased;
import dev.ullage.common.ledger.LedgerEvent.TermsInForce;
import dev.ullage.common.ledger.LedgerEvent.TermsWanted;
import dev.ullage.common.ledger.LedgerEvent.TokenSeen;
import dev.ullage.common.ledger.Refusal.Reason;
import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.ReservedPart;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** One decision of a {@link DeviceLedger}: works on a fold of its own and collects what came of it. */
final class LedgerDecider {
    /** So that a report, which carries every part of each of them, is a message the cluster can carry. */
    static final int MAX_PARTS = 2 * Reservation.MAX_PARTS;

    private final List<LedgerEvent> events = new ArrayList<>();
    private final List<Order> orders = new ArrayList<>();
    private final List<Refusal> refusals = new ArrayList<>();
    private final MemoryBytes out;
    private final LedgerFold ledger;

    LedgerDecider(LedgerFold ledger, MemoryBytes out) {
        this.ledger = ledger;
        this.out = out;
    }

    LedgerDecision decide(LedgerCommand command) {
        if (command instanceof Acknowledge acknowledge) {
            admit(acknowledge.token());
        } else if (command instanceof Desire desire) {
            desire(desire);
        } else if (command instanceof Measure measure) {
            want(ledger.wanted().withMeasured(measure.allocatable(), measure.foreign()));
        } else if (command instanceof Join join) {
            join(join);
        } else if (command instanceof Confirm confirm) {
            confirm(confirm);
        } else if (command instanceof Leave leave) {
            if (ledger.grant(leave.instance()).isPresent()) {
                happened(new RankLeft(leave.instance()));
            }
        } else {
            decideReservation(command);
        }
        bringTermsInForceIfTheyFit();
        return new LedgerDecision(events, orders, refusals);
    }

    private void decideReservation(LedgerCommand command) {
        if (command instanceof Reserve reserve) {
            reserve(reserve);
        } else if (command instanceof CommitReservation commit) {
            commit(commit);
        } else if (command instanceof ReleaseReservation release) {
            if (admit(release.token()) && ledger.reservation(release.id()).isPresent()) {
                happened(new ReservationReleased(release.id()));
            }
        } else if (command instanceof ExpireReservation expire) {
            ledger.reservation(expire.id())
                    .filter(held -> !held.committed())
                    .ifPresent(held -> happened(new ReservationExpired(held.id())));
        }
    }

    private void reserve(Reserve reserve) {
        Reservation reservation = reserve.reservation();
        if (!admit(reserve.token())) {
            return;
        }
        Optional<HeldReservation> known = ledger.reservation(reservation.id());
        boolean isAnother =
                known.filter(held -> !held.reservation().equals(reservation)).isPresent();
        if (isAnother || reservation.part(ledger.device()).isEmpty()) {
            refuse(
                    Reason.IMPOSSIBLE_RESERVATION,
                    "refused reservation %s on %s: %s"
                            .formatted(
                                    reservation.id(),
                                    ledger.device(),
                                    isAnother ? "another one has this name" : "it has no part here"));
        } else if (known.isEmpty()) {
            reserveIfThereIsRoom(reservation, reservation.part(ledger.device()).orElseThrow());
        }
    }

    private void reserveIfThereIsRoom(Reservation reservation, ReservedPart part) {
        int parts = reservation.parts().size()
                + ledger.reservations().stream()
                        .mapToInt(held -> held.reservation().parts().size())
                        .sum();
        boolean isTooMuch = part.amount().isMoreThan(ledger.leastBudget())
                || missing(reservation).isMoreThan(free());
        if (parts > MAX_PARTS) {
            refuse(
                    Reason.TOO_MANY_PARTS,
                    "refused reservation %s on %s: all reservations there would have %d parts, at most %d are kept"
                            .formatted(reservation.id(), ledger.device(), parts, MAX_PARTS));
        } else if (isTooMuch) {
            refuse(
                    Reason.NO_ROOM,
                    "refused reservation %s on %s: wants %s for %d %s, free %s (budget %s, ceilings %s, reserved %s)%s"
                            .formatted(
                                    reservation.id(),
                                    ledger.device(),
                                    part.amount(),
                                    part.ranks(),
                                    part.ranks() == 1 ? "rank" : "ranks",
                                    free(),
                                    ledger.leastBudget(),
                                    ledger.ceilings(),
                                    ledger.promised().minus(ledger.ceilings()),
                                    waitingFor(grant -> true)));
        } else {
            happened(new ReservationMade(reservation));
        }
    }

    /** What would be promised beyond all that is: less than the amount where ranks of the job are here already. */
    private MemoryBytes missing(Reservation reservation) {
        List<HeldReservation> all = new ArrayList<>(ledger.reservations());
        all.add(new HeldReservation(reservation, false));
        MemoryBytes after =
                ReservedRoom.of(ledger.device(), all, ledger.grants()).total();
        return ledger.ceilings().plus(after).minus(ledger.promised());
    }

    private void commit(CommitReservation commit) {
        if (!admit(commit.token())) {
            return;
        }
        ReservationId id = commit.id();
        Optional<HeldReservation> known = ledger.reservation(id);
        if (known.isEmpty()) {
            refuse(
                    Reason.UNKNOWN_RESERVATION,
                    "refused to commit reservation %s on %s: it is not there, it may have expired"
                            .formatted(id, ledger.device()));
        } else if (!known.get().committed()) {
            happened(new ReservationCommitted(id));
        }
    }

    private boolean admit(CoordinatorToken token) {
        Optional<CoordinatorToken> highest = ledger.highestToken();
        if (highest.isPresent() && token.isOlderThan(highest.get())) {
            refuse(
                    Reason.STALE_COORDINATOR,
                    "refused coordinator %s on %s: already obeys %s".formatted(token, ledger.device(), highest.get()));
            return false;
        }
        if (!highest.equals(Optional.of(token))) {
            happened(new TokenSeen(token));
        }
        return true;
    }

    private void desire(Desire desire) {
        if (!admit(desire.token())) {
            return;
        }
        want(ledger.wanted().withReserve(desire.reserve()).withPool(desire.pool()));
        bringTermsInForceIfTheyFit();
        List<DesiredLimit> changes = onePerRank(desire.limits()).stream()
                .filter(limit -> isKnown(limit) && isChange(limit))
                .toList();
        changes.stream().filter(limit -> !needsRoom(limit)).forEach(this::order);
        changes.stream().filter(this::needsRoom).forEach(this::growIfThereIsRoom);
    }

    /** Of several limits for one rank the last counts. */
    private static Collection<DesiredLimit> onePerRank(List<DesiredLimit> limits) {
        Map<RankInstance, DesiredLimit> byRank = new LinkedHashMap<>();
        limits.forEach(limit -> byRank.put(limit.instance(), limit));
        return byRank.values();
    }

    private boolean isKnown(DesiredLimit limit) {
        boolean known = ledger.grant(limit.instance()).isPresent();
        if (!known) {
            refuse(
                    Reason.UNKNOWN_RANK,
                    "refused a limit of %s for rank %s: not on %s"
                            .formatted(limit.limits(), limit.instance(), ledger.device()));
        }
        return known;
    }

    private boolean isChange(DesiredLimit limit) {
        Grant grant = ledger.grant(limit.instance()).orElseThrow();
        return !grant.target().equals(Optional.of(limit.limits()))
                || !grant.share().equals(limit.share());
    }

    private boolean needsRoom(DesiredLimit limit) {
        return limit.limits()
                .max()
                .isMoreThan(ledger.grant(limit.instance()).orElseThrow().ceiling());
    }

    private void order(DesiredLimit limit) {
        long sequence = ledger.grant(limit.instance()).orElseThrow().sequence() + 1;
        happened(new LimitOrdered(limit.instance(), sequence, limit.limits(), limit.share()));
        orders.add(new Order(limit.instance(), sequence, limit.limits()));
    }

    private void growIfThereIsRoom(DesiredLimit limit) {
        Grant grant = ledger.grant(limit.instance()).orElseThrow();
        MemoryBytes missing = limit.limits().max().minus(grant.ceiling());
        if (missing.isMoreThan(room(grant))) {
            refuse(Reason.NO_ROOM, noRoom(limit, grant));
        } else {
            order(limit);
        }
    }

    /** Bursts that a rank told of, and that no pool was kept for, take from the room for limits. */
    private MemoryBytes free() {
        return ledger.free().minusOrZero(burstsBeyondThePool());
    }

    private MemoryBytes room(Grant grant) {
        return ledger.room(grant.instance().rank().job()).minusOrZero(burstsBeyondThePool());
    }

    private MemoryBytes burstsBeyondThePool() {
        return out.minusOrZero(ledger.inForce().usablePool());
    }

    private String noRoom(DesiredLimit limit, Grant grant) {
        MemoryBytes reserved = ledger.promised().minus(ledger.ceilings());
        return "refused grow of rank %s on %s: wants %s, has %s, free %s (budget %s, ceilings %s%s)%s"
                .formatted(
                        limit.instance(),
                        ledger.device(),
                        limit.limits().max(),
                        grant.ceiling(),
                        room(grant),
                        ledger.leastBudget(),
                        ledger.ceilings(),
                        reserved.isZero() ? "" : ", reserved " + reserved,
                        waitingFor(other -> !other.equals(grant)));
    }

    /** Who has been ordered to shrink and has not said yet that it did. */
    private String waitingFor(Predicate<Grant> whom) {
        String names = ledger.grants().stream()
                .filter(whom)
                .filter(grant -> grant.ceiling().isMoreThan(grant.targetMax()))
                .map(grant -> "rank " + grant.instance() + " (sequence " + grant.sequence() + ")")
                .collect(Collectors.joining(", "));
        return names.isEmpty() ? "" : "; waiting for " + names;
    }

    private void join(Join join) {
        Optional<Grant> known = ledger.grant(join.instance());
        MemoryBytes ceiling = known.map(Grant::ceiling).orElse(MemoryBytes.ZERO);
        long sequence = known.map(Grant::sequence).orElse(0L);
        if (join.claimedLimit().isMoreThan(ceiling) || join.claimedSequence() > sequence) {
            happened(
                    new RankAdopted(join.instance(), sequenceOfAdopted(known, join), ceiling.max(join.claimedLimit())));
        } else if (known.isEmpty()) {
            happened(new RankJoined(join.instance()));
        }
        long newest = ledger.grant(join.instance()).orElseThrow().sequence();
        if (newest > 0 && join.claimedSequence() == newest) {
            confirm(new Confirm(join.instance(), newest, join.claimedLimit()));
        }
    }

    /** An order that waits for the rank gets a number the rank has not seen: it ignores every other. */
    private static long sequenceOfAdopted(Optional<Grant> known, Join join) {
        long sequence = known.map(Grant::sequence).orElse(0L);
        boolean hasSeenTheNumber = join.claimedSequence() >= sequence;
        boolean hasOrder = known.flatMap(Grant::target).isPresent();
        return hasSeenTheNumber && hasOrder ? join.claimedSequence() + 1 : Math.max(sequence, join.claimedSequence());
    }

    private void confirm(Confirm confirm) {
        Optional<Grant> known = ledger.grant(confirm.instance());
        if (known.isEmpty()) {
            refuse(
                    Reason.UNKNOWN_RANK,
                    "ignored a confirmation of rank %s: not on %s".formatted(confirm.instance(), ledger.device()));
            return;
        }
        Grant grant = known.get();
        if (confirm.sequence() < grant.sequence()) {
            refuse(
                    Reason.SUPERSEDED_CONFIRMATION,
                    "ignored confirmation %d of rank %s: the newest order is %d"
                            .formatted(confirm.sequence(), confirm.instance(), grant.sequence()));
            return;
        }
        boolean isTooMuch = confirm.inForce().isMoreThan(grant.ceiling());
        boolean wasNeverLimited = grant.confirmedSequence() == 0;
        if (confirm.sequence() > grant.sequence() || (isTooMuch && !wasNeverLimited)) {
            refuse(
                    Reason.IMPOSSIBLE_CONFIRMATION,
                    "refused confirmation %d of %s by rank %s: the newest order is %d, its ceiling %s"
                            .formatted(
                                    confirm.sequence(),
                                    confirm.inForce(),
                                    confirm.instance(),
                                    grant.sequence(),
                                    grant.ceiling()));
            return;
        }
        if (isTooMuch) {
            adopt(grant, confirm.sequence(), confirm.inForce());
            return;
        }
        MemoryBytes ceiling = grant.targetMax().max(confirm.inForce());
        if (!ceiling.equals(grant.ceiling()) || grant.confirmedSequence() != confirm.sequence()) {
            happened(new LimitConfirmed(confirm.instance(), confirm.sequence(), ceiling));
        }
    }

    /**
     * A rank that took memory before it was ever limited holds more than its first order. That is a fact, not a
     * promise: it is counted, and the order is given again under a number that is new to the rank.
     */
    private void adopt(Grant grant, long appliedSequence, MemoryBytes inForce) {
        Join claim = new Join(grant.instance(), appliedSequence, inForce);
        happened(new RankAdopted(grant.instance(), sequenceOfAdopted(Optional.of(grant), claim), inForce));
    }

    private void want(BudgetTerms terms) {
        if (!terms.equals(ledger.wanted())) {
            happened(new TermsWanted(terms));
        }
    }

    private void bringTermsInForceIfTheyFit() {
        BudgetTerms wanted = ledger.wanted();
        boolean fit = !ledger.promised().isMoreThan(wanted.budget());
        boolean widen = !ledger.inForce().budget().isMoreThan(wanted.budget());
        boolean burstsFit = !out.isMoreThan(wanted.usablePool());
        if (!wanted.equals(ledger.inForce()) && burstsFit && (fit || widen)) {
            happened(new TermsInForce());
        }
    }

    private void happened(LedgerEvent event) {
        ledger.apply(event);
        events.add(event);
    }

    private void refuse(Reason reason, String message) {
        refusals.add(new Refusal(reason, message));
    }
}
