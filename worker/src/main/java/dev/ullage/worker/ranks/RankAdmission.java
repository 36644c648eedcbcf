package dev.ullage.worker.ranks;

import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.worker.ranks.BadMessageException.Code;
import dev.ullage.worker.ranks.ProcessTable.ProcessFacts;
import java.io.IOException;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Decides who is let in: the process must exist, belong to the peer's user (root may speak for any), and have a device.
 * Runs on the socket's threads; its only state is which local ranks are taken.
 */
final class RankAdmission implements RankGate {
    private static final String ROOT = "root";

    private final NodeId node;
    private final ProcessTable processes;
    private final DeviceChooser chooser;
    private final Function<DeviceInfo, Optional<MemoryUse>> memory;
    private final SessionDirectory sessions;
    private final Consumer<Admitted> onAdmitted;
    private final RankCodec codec;
    private final LocalRanks localRanks;

    /** Which device a rank is on, or why none. */
    interface DeviceChooser {
        DeviceInfo choose(RankMessage.Hello hello) throws BadMessageException;
    }

    /** A process that was let in, to be given a session. */
    record Admitted(RankInstance instance, DeviceInfo device, RankSession.Connected connected) {}

    RankAdmission(
            NodeId node,
            ProcessTable processes,
            DeviceChooser chooser,
            Function<DeviceInfo, Optional<MemoryUse>> memory,
            SessionDirectory sessions,
            RankCodec codec,
            Consumer<Admitted> onAdmitted) {
        this.node = node;
        this.processes = processes;
        this.chooser = chooser;
        this.memory = memory;
        this.sessions = sessions;
        this.codec = codec;
        this.localRanks = new LocalRanks(processes);
        this.onAdmitted = onAdmitted;
    }

    @Override
    public RankCodec codec() {
        return codec;
    }

    @Override
    public void hello(RankMessage.Hello claimed, String peerUser, SessionConnection connection)
            throws BadMessageException {
        RankMessage.Hello said = here(claimed);
        ProcessFacts process = find(said)
                .orElseThrow(() -> new BadMessageException(
                        Code.NO_SUCH_PROCESS,
                        "process " + said.pid() + " of rank " + said.rank() + " does not exist on this host"));
        if (!peerUser.equals(ROOT) && !peerUser.equals(process.user())) {
            throw new BadMessageException(
                    Code.NOT_YOURS,
                    "process " + said.pid() + " belongs to user " + process.user() + ", the connection to user "
                            + peerUser);
        }
        RankInstance instance = new RankInstance(said.rank(), said.pid(), process.startTicks());
        OptionalInt localRank = localRanks.of(
                instance, said.facts().localRank(), said.wish().device().isPresent());
        RankMessage.Hello hello = said.withLocalRank(localRank);
        DeviceInfo device = chooser.choose(hello);
        OptionalInt workedOut = said.facts().localRank().isPresent() ? OptionalInt.empty() : localRank;
        Function<SessionHandle, byte[]> welcome = handle -> {
            connection.bind(handle);
            if (!connection.channel().isOpen()) {
                // It ended before it had a session to tell.
                handle.session().tell(new RankSession.Disconnected(connection));
            }
            return codec.welcome(handle, node, device, memory.apply(device), workedOut);
        };
        onAdmitted.accept(new Admitted(instance, device, new RankSession.Connected(hello, connection, welcome)));
    }

    private RankMessage.Hello here(RankMessage.Hello claimed) throws BadMessageException {
        if (claimed.namespace().isEmpty()) {
            return claimed;
        }
        RankMessage.Namespace namespace = claimed.namespace().get();
        OptionalLong pid;
        try {
            pid = processes.pidHere(claimed.pid(), namespace.id(), namespace.startTicks());
        } catch (IOException e) {
            throw new BadMessageException(Code.NO_SUCH_PROCESS, "processes cannot be looked at: " + e.getMessage());
        }
        return claimed.withPid(pid.orElseThrow(() -> new BadMessageException(
                Code.NO_SUCH_PROCESS,
                "process %d of rank %s is in a pid namespace of its own (%d), and of the processes this worker sees none, or"
                                .formatted(claimed.pid(), claimed.rank(), namespace.id())
                        + " more than one, can be it: the worker must run on the host or share its pid namespace")));
    }

    private Optional<ProcessFacts> find(RankMessage.Hello hello) throws BadMessageException {
        try {
            return processes.find(hello.pid());
        } catch (IOException e) {
            throw new BadMessageException(
                    Code.NO_SUCH_PROCESS, "process " + hello.pid() + " cannot be looked at: " + e.getMessage());
        }
    }

    @Override
    public void said(SessionConnection connection, RankMessage message) throws BadMessageException {
        SessionHandle handle = connection.session();
        if (handle == null) {
            throw new BadMessageException(Code.BAD_MESSAGE, "nothing may be said before the welcome");
        }
        handle.session().tell(new RankSession.Said(message));
    }

    @Override
    public SessionHandle attach(RankMessage.Attach attach) throws BadMessageException {
        return sessions.find(attach.session(), attach.token())
                .orElseThrow(() -> new BadMessageException(Code.BAD_MESSAGE, "no such session, or not its token"));
    }

    @Override
    public void disconnected(SessionConnection connection) {
        SessionHandle handle = connection.session();
        if (handle != null) {
            handle.session().tell(new RankSession.Disconnected(connection));
        }
    }
}
