package dev.ullage.cli.modelcheck;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.simulation.ClientModel;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * A process that takes turns: {@code python/ullage/turns.py} around its client. What was said about turns stays on the
 * connection until the next one, so it may arrive never, late, in any order, and as often as one likes.
 */
final class TurnRank {
    private static final Set<Phase> BURST = Set.of(Phase.BACKWARD);

    final SmallRank rank;
    final TreeSet<Said> toDesk = new TreeSet<>();
    Optional<Answer> answer = Optional.empty();
    boolean isWaiting;
    long lastAsk;
    int asksLeft;

    /** It asks, or it holds nothing by what it asked for. */
    record Said(long ask, boolean isAsking) implements Comparable<Said> {
        @Override
        public int compareTo(Said other) {
            int byAsk = Long.compare(ask, other.ask);
            return byAsk != 0 ? byAsk : Boolean.compare(isAsking, other.isAsking);
        }
    }

    /** What the desk said of the number that was asked with last; any other is void. */
    record Answer(long ask, Optional<MemoryBytes> burst) {}

    TurnRank(SmallRank rank, int asksLeft) {
        this.rank = rank;
        this.asksLeft = asksLeft;
    }

    TurnRank copy() {
        TurnRank copy = new TurnRank(rank.copy(), asksLeft);
        copy.toDesk.addAll(toDesk);
        copy.answer = answer;
        copy.isWaiting = isWaiting;
        copy.lastAsk = lastAsk;
        return copy;
    }

    ClientModel client() {
        return rank.client;
    }

    /** The most that it may hold now. */
    long most() {
        long promised = rank.inForce() + client().turn().value();
        return Math.max(promised, client().limit().map(MemoryBytes::value).orElse(0L));
    }

    boolean mayAsk() {
        return rank.isConnected
                && !isWaiting
                && asksLeft > 0
                && client().phase() != Phase.BACKWARD
                && client().turn().isZero()
                && client().inForce().isPresent();
    }

    void ask() {
        asksLeft--;
        lastAsk++;
        isWaiting = true;
        toDesk.add(new Said(lastAsk, true));
    }

    /** Without a turn the burst has the limits of all phases, so entering it changes nothing. */
    void hear(Answer said) {
        isWaiting = false;
        answer = Optional.empty();
        said.burst().ifPresent(burst -> {
            client().takeTurn(burst, BURST);
            client().enter(Phase.BACKWARD);
            settle(rank.inForce());
        });
    }

    /** No answer in time: what may have been given is given back, and the burst is entered without. */
    void waitNoLonger() {
        isWaiting = false;
        answer = Optional.empty();
        release();
    }

    void leaveBurst() {
        client().enter(Phase.IDLE);
    }

    /** A safe point with this much held, before and after. */
    void settle(long held) {
        rank.settle(held);
        if (client().endTurn(Optional.of(MemoryBytes.of(held)))) {
            release();
        }
    }

    private void release() {
        if (rank.isConnected) {
            toDesk.add(new Said(lastAsk, false));
        }
    }

    /** Whoever waits asks again, with another number. */
    void disconnect() {
        rank.disconnect();
        toDesk.clear();
        answer = Optional.empty();
        isWaiting = false;
    }

    void encode(StringBuilder text) {
        rank.encode(text);
        text.append(isWaiting ? 'w' : '-').append(lastAsk).append(asksLeft);
        toDesk.forEach(said -> text.append(said.isAsking() ? '?' : '.').append(said.ask()));
        answer.ifPresent(said ->
                text.append('=').append(said.burst().map(MemoryBytes::value).orElse(-1L)));
    }
}
