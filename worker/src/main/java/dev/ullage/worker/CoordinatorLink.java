package dev.ullage.worker;

import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToWorker;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * The worker's end in the cluster: lives on the cluster's ActorSystem, which may be thrown away and made anew, and
 * passes messages on to the hub, which lives on the worker's own. Stateless.
 */
public final class CoordinatorLink {
    private CoordinatorLink() {}

    /**
     * @param hub the worker behind this link
     * @param coordinator whoever coordinates now; a singleton proxy of the cluster this link is a member of
     */
    public static Behavior<ToWorker> create(ActorRef<WorkerHub.Command> hub, ActorRef<ToCoordinator> coordinator) {
        return Behaviors.setup(context -> {
            hub.tell(new WorkerHub.LinkUp(context.getSelf(), coordinator));
            return Behaviors.receive(ToWorker.class)
                    .onAnyMessage(message -> {
                        hub.tell(new WorkerHub.FromCoordinator(message));
                        return Behaviors.same();
                    })
                    .onSignal(PostStop.class, signal -> {
                        hub.tell(new WorkerHub.LinkDown(context.getSelf()));
                        return Behaviors.same();
                    })
                    .build();
        });
    }
}
