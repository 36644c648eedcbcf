package dev.ullage.cli.simulation;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.LedgerCommand.Confirm;
import dev.ullage.common.ledger.LedgerCommand.Join;
import dev.ullage.common.ledger.Order;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.TurnPlan.RankTurn;
import dev.ullage.common.simulation.ClientModel;
import dev.ullage.common.simulation.ClientModel.InForce;
import dev.ullage.common.simulation.ClientModel.Plan;
import dev.ullage.common.simulation.ClientModel.Receipt;
import dev.ullage.common.simulation.Dice;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One process of a rank: the client's state machine, an allocator that takes what the limit in force lets it and gives
 * back what it can spare, safe points, and a socket that may break at any time.
 */
final class SimulatedRank {
    private static final long MAX_BACK_OFF_MILLIS = 5000;
    private static final List<Phase> PHASES = List.of(Phase.values());

    final int number;
    final RankInstance instance;
    final SimulatedHost host;
    final SimulatedDevice device;
    private final World world;
    private final Dice dice;
    private final boolean appliesAtOnce;
    private ClientModel client;
    private long heldBytes;
    private long toldBytes;
    private long deafUntilMillis;
    private boolean alive = true;
    private int connection;
    private int connectedTo;
    private boolean connected;
    private boolean excused;
    private boolean turnExcused;
    private Optional<RankTurn> offer = Optional.empty();
    private Optional<Phase> awaited = Optional.empty();
    private long lastAsk;
    private long askedAtMillis;
    private long backOffUntilMillis;

    /** @param heldBytes what it holds before anybody has told it a limit */
    SimulatedRank(World world, Dice dice, int number, Place place, RankInstance instance, long heldBytes) {
        this.world = world;
        this.dice = dice;
        this.number = number;
        this.host = place.host();
        this.device = place.device();
        this.instance = instance;
        this.heldBytes = heldBytes;
        this.appliesAtOnce = dice.chance(300);
        this.client = world.rules().client(instance, Optional.empty());
        liveOn();
    }

    /** Where a process runs. */
    record Place(SimulatedHost host, SimulatedDevice device) {}

    private void liveOn() {
        world.time().after(dice.between(60, 300), () -> {
            if (alive) {
                liveOn();
                live();
            }
        });
    }

    private void live() {
        stayConnected();
        if (world.time().nowMillis() < deafUntilMillis) {
            return;
        }
        if (awaited.isPresent()) {
            giveUpAfterTheDeadline();
        } else if (dice.chance(200)) {
            enter(dice.pick(PHASES));
        }
        client.limit().ifPresent(limit -> {
            if (limit.value() > heldBytes && dice.chance(500)) {
                heldBytes = dice.between(heldBytes, limit.value());
            }
        });
        if (client.needsSettling()) {
            settle(false);
        }
    }

    /** A burst phase is entered with a turn, or, when none was to be had, without. */
    private void enter(Phase phase) {
        boolean needsTurn = client.turn().isZero()
                && client.inForce().isPresent()
                && offer.filter(turn -> turn.phases().contains(phase)).isPresent();
        if (!needsTurn || !connected) {
            client.enter(phase);
            return;
        }
        awaited = Optional.of(phase);
        askedAtMillis = world.time().nowMillis();
        long ask = ++lastAsk;
        host.aboutTurns(this, connection, turns -> turns.asked(this, ask));
    }

    private void giveUpAfterTheDeadline() {
        if (world.time().nowMillis() - askedAtMillis > SimulatedTurns.DEADLINE_MILLIS + dice.between(0, 2000)) {
            enterWithout();
        }
    }

    private void enterWithout() {
        long ask = lastAsk;
        client.enter(awaited.orElseThrow());
        awaited = Optional.empty();
        host.aboutTurns(this, connection, turns -> turns.released(this, ask));
    }

    void onOffer(int over, Optional<RankTurn> turn) {
        if (alive && connected && over == connection) {
            offer = turn;
        }
    }

    void onTurn(int over, long ask, Optional<MemoryBytes> burst, int fromIncarnation) {
        if (!alive || !connected || over != connection || ask != lastAsk || awaited.isEmpty()) {
            return;
        }
        if (burst.isEmpty()) {
            enterWithout();
            return;
        }
        world.turnGiven();
        // Of a ledger that was lost meanwhile: a fact that the next one cannot know.
        turnExcused = device.wasWiped && (!host.isAlive() || host.incarnation() != fromIncarnation);
        client.takeTurn(burst.get(), Set.copyOf(offer.map(RankTurn::phases).orElse(List.of())));
        client.enter(awaited.orElseThrow());
        awaited = Optional.empty();
        settle(false);
    }

    private void stayConnected() {
        if (connected && connectedTo != host.incarnation()) {
            connected = false;
            boolean isSlow = world.scenario().takesTurns()
                    && !world.isCalm()
                    && dice.chance(client.turn().isZero() ? 200 : 900);
            backOffUntilMillis = world.time().nowMillis() + (isSlow ? dice.between(0, MAX_BACK_OFF_MILLIS) : 0);
        }
        if (!connected && host.isAlive() && world.time().nowMillis() >= backOffUntilMillis) {
            connected = true;
            connectedTo = host.incarnation();
            connection++;
            client.forgetPending();
            awaited = Optional.empty();
            offer = Optional.empty();
            Optional<InForce> now = client.inForce();
            Join join = new Join(
                    instance,
                    now.map(InForce::sequence).orElse(0L),
                    now.map(InForce::limit).orElse(MemoryBytes.ZERO));
            host.hello(this, connection, join);
        }
    }

    /** Whether what was sent over this connection may still be read: of a broken one only what was there already. */
    boolean mayStillArrive(int over) {
        return (connected && over == connection) || dice.chance(500);
    }

    void onOrder(int over, Order order) {
        if (!alive || !connected || over != connection) {
            return;
        }
        Receipt receipt = client.receive(order);
        if (receipt == Receipt.STALE) {
            return;
        }
        if (receipt == Receipt.NEW) {
            toldBytes = order.limits().max().value();
        }
        boolean isRepeated = receipt == Receipt.REPEATED;
        if (client.needsSettling() && appliesAtOnce && world.time().nowMillis() >= deafUntilMillis) {
            settle(isRepeated);
        } else if (isRepeated && !client.isPending()) {
            confirm();
        }
    }

    /** A safe point: gives back what it can, puts in force what can be, and says so. */
    private void settle(boolean confirmAnyway) {
        Optional<InForce> before = client.inForce();
        client.target().filter(target -> heldBytes > target.value()).ifPresent(target -> {
            heldBytes = world.isCalm() ? Math.min(heldBytes, target.value()) : dice.between(0, heldBytes);
        });
        Optional<Plan> plan = client.plan(Optional.of(MemoryBytes.of(heldBytes)));
        if (plan.isEmpty()) {
            return;
        }
        boolean isTold = client.commit(plan.get());
        InForce now = client.inForce().orElseThrow();
        long allowed =
                Math.max(toldBytes, before.map(one -> one.limit().value()).orElse(heldBytes));
        if (now.limit().value() > allowed) {
            throw new Violation(
                    Violation.Kind.SAFETY, "%s put %s in force, was told %d".formatted(instance, now, toldBytes));
        }
        if (before.isEmpty() && now.limit().value() > toldBytes) {
            // It held this before it was ever told a limit: a fact that no ledger could know.
            excuse();
        }
        world.note(What.IN_FORCE, number, now.limit().value(), () -> "%s has %s in force, holds %d"
                .formatted(instance, now, heldBytes));
        if (isTold || confirmAnyway) {
            confirm();
        }
        if (client.endTurn(Optional.of(MemoryBytes.of(heldBytes)))) {
            turnExcused = false;
            long ask = lastAsk;
            host.aboutTurns(this, connection, turns -> turns.released(this, ask));
        }
    }

    private void confirm() {
        InForce now = client.inForce().orElseThrow();
        if (connected) {
            host.confirm(this, connection, new Confirm(instance, now.sequence(), now.limit()));
        }
    }

    // ---- what happens to it

    void die() {
        alive = false;
        connected = false;
        world.note(What.CRASH, number, 0, () -> instance + " is gone");
    }

    /** The same process runs another program, which is told what is in force. */
    void exec() {
        client = world.rules().client(instance, client.inForce());
        heldBytes = client.inForce().isPresent() ? 0 : heldBytes;
        awaited = Optional.empty();
        turnExcused = false;
        connected = false;
        world.note(What.START, number, 0, () -> instance + " executes another program");
    }

    void goDeaf(long untilMillis) {
        deafUntilMillis = untilMillis;
    }

    void loseConnection() {
        connected = false;
    }

    /** Its ledger has a reason not to know what it holds, until it has heard of it. */
    void excuse() {
        excused = true;
        device.mayAdopt = true;
    }

    /** Its ledger was told what is in force now: from here on it must know. */
    void wasHeard(long sequence, MemoryBytes limit) {
        DeviceLedger ledger = device.ledger();
        boolean isNewest = ledger != null
                && ledger.grant(instance)
                        .filter(grant -> grant.sequence() == sequence)
                        .isPresent();
        if (isNewest && client.inForce().equals(Optional.of(new InForce(sequence, limit)))) {
            excused = false;
        }
    }

    /** Its ledger cannot know of its turn. */
    void excuseTurn() {
        turnExcused = !client.turn().isZero();
    }

    long lastAsk() {
        return lastAsk;
    }

    /** What its turn adds to what it has in force, as far as its ledger can know. */
    long turnBytes() {
        return turnExcused ? 0 : client.turn().value();
    }

    void pardonIsOver() {
        excused = false;
    }

    // ---- what is checked

    boolean isAlive() {
        return alive;
    }

    boolean isExcused() {
        return excused;
    }

    ClientModel client() {
        return client;
    }

    long heldBytes() {
        return heldBytes;
    }

    long inForceBytes() {
        return client.inForce().map(now -> now.limit().value()).orElse(0L);
    }
}
