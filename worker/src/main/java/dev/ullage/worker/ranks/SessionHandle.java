package dev.ullage.worker.ranks;

import dev.ullage.common.ledger.Order;
import dev.ullage.common.model.Phase;
import dev.ullage.common.protocol.RankSample.Activity;
import dev.ullage.worker.ranks.RankMessage.PhaseEntered;
import java.time.Instant;
import java.util.OptionalLong;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;

/**
 * Where a session's actor and the socket's threads meet without a message. The actor publishes the newest order here,
 * so that a call that waits is answered by the thread that read it; that thread leaves the rank's phase here, and the
 * actor looks at it at its own pace: a rank may change its phase thousands of times a second, and nobody is woken for
 * it.
 */
final class SessionHandle {
    private final String id;
    private final String token;
    private final ActorRef<RankSession.Command> session;
    private final TurnSeat seat;
    private volatile @Nullable Order newest;
    private volatile Entered entered;

    /** The phase a rank was last heard to be in, and when. */
    record Entered(Activity activity, Instant at) {}

    /** @param now when the session begins: in INIT, as every process does */
    SessionHandle(String id, String token, ActorRef<RankSession.Command> session, TurnSeat seat, Instant now) {
        this.id = id;
        this.token = token;
        this.session = session;
        this.seat = seat;
        this.entered = new Entered(new Activity(Phase.INIT, OptionalLong.empty()), now);
    }

    String id() {
        return id;
    }

    String token() {
        return token;
    }

    ActorRef<RankSession.Command> session() {
        return session;
    }

    /** Where the process asks for turns. */
    TurnSeat seat() {
        return seat;
    }

    /** The rank says it entered a phase; without a step it is still in the one it said last. */
    void enter(PhaseEntered phase, Instant now) {
        OptionalLong step =
                phase.step().isPresent() ? phase.step() : entered.activity().step();
        entered = new Entered(new Activity(phase.phase(), step), now);
    }

    Entered entered() {
        return entered;
    }

    void publish(Order order) {
        newest = order;
    }

    /** The answer to a phase call: the newest order's limit for it. */
    byte[] answer(RankCodec codec, Phase phase, long callId) {
        Order order = newest;
        return order == null
                ? codec.entered(callId, 0, OptionalLong.empty())
                : codec.entered(
                        callId,
                        order.sequence(),
                        OptionalLong.of(order.limits().in(phase).value()));
    }
}
