package dev.ullage.worker.ranks;

import dev.ullage.common.ledger.Order;
import dev.ullage.common.model.Phase;
import java.util.Optional;
import java.util.OptionalLong;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;

/**
 * What the socket's threads know of a session. The newest order is published here by the session's actor, so that a
 * call that waits is answered by the thread that read it.
 */
final class SessionHandle {
    private final String id;
    private final String token;
    private final ActorRef<RankSession.Command> session;
    private volatile @Nullable Order newest;

    SessionHandle(String id, String token, ActorRef<RankSession.Command> session) {
        this.id = id;
        this.token = token;
        this.session = session;
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

    void publish(Order order) {
        newest = order;
    }

    Optional<Order> newestOrder() {
        return Optional.ofNullable(newest);
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
