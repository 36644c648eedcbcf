package dev.ullage.worker;

import dev.ullage.worker.ranks.RankSession;
import dev.ullage.worker.ranks.RankSessions;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;

/** Makes sessions children of the hub. Used on the hub's thread alone. */
record ContextSpawner(ActorContext<WorkerHub.Command> context) implements RankSessions.Spawner {

    @Override
    public ActorRef<RankSession.Command> spawn(Behavior<RankSession.Command> behavior, String name) {
        return context.spawn(behavior, name);
    }

    @Override
    public void stop(ActorRef<RankSession.Command> session) {
        context.stop(session);
    }
}
