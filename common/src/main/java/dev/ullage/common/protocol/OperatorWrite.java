package dev.ullage.common.protocol;

import dev.ullage.common.protocol.ToCoordinator.DrainNode;
import dev.ullage.common.protocol.ToCoordinator.ReleaseCaches;
import dev.ullage.common.protocol.ToCoordinator.SetLimit;
import dev.ullage.common.protocol.ToCoordinator.SetPolicy;
import dev.ullage.common.protocol.ToCoordinator.SetPriority;
import dev.ullage.common.protocol.ToCoordinator.SetReserve;
import dev.ullage.common.protocol.ToCoordinator.SetShare;
import dev.ullage.common.protocol.ToCoordinator.UndrainNode;
import org.apache.pekko.actor.typed.ActorRef;

/**
 * What an operator may ask a coordinator to change. Each is answered at once, with what changes or why nothing does.
 */
public sealed interface OperatorWrite
        permits SetReserve, SetShare, SetPolicy, SetPriority, SetLimit, DrainNode, UndrainNode, ReleaseCaches {
    ActorRef<ToOperator> replyTo();
}
