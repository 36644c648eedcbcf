package dev.ullage.cli.simulation;

import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToWorker;
import org.apache.pekko.actor.testkit.typed.javadsl.TestInbox;
import org.apache.pekko.actor.typed.ActorRef;

/** References that wire messages need and nobody here ever sends to: pure code addresses nodes by name. */
final class Stubs {
    static final ActorRef<ToWorker> WORKER =
            TestInbox.<ToWorker>create("worker").getRef();
    static final ActorRef<ToOperator> OPERATOR =
            TestInbox.<ToOperator>create("operator").getRef();

    private Stubs() {}
}
