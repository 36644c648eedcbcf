package dev.ullage.common.protocol;

/** Everything that crosses the cluster. The marker the serializer is bound to; nothing else is ever read. */
public sealed interface WireMessage permits ToCoordinator, ToWorker, ToOperator {}
