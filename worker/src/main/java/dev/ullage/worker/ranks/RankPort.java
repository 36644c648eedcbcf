package dev.ullage.worker.ranks;

import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RankAccount;
import dev.ullage.config.WatchSettings;
import dev.ullage.worker.turns.TurnDesk;
import dev.ullage.worker.watch.WatchedRank;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.Base64;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;

/** Everything of the ranks' side, put together: the socket in front, the sessions behind. */
public final class RankPort {
    private static final int TOKEN_BYTES = 18;
    private static final int CONNECTIONS_PER_RANK = 2;

    private final NodeId node;
    private final ProcessTable processes;
    private final TurnDesk turns;
    private final Clock clock;
    private final int maxRanks;
    private final SessionDirectory directory = new SessionDirectory();
    private final RankCodec codec;
    private final WatchSettings watch;
    private final RankAccountKeeper accounts;
    private final SecureRandom random = new SecureRandom();

    /**
     * @param maxRanks processes served at a time, 1 or more
     * @param watch how closely they are watched
     * @param accounts what they come to
     */
    public RankPort(
            NodeId node,
            ProcessTable processes,
            TurnDesk turns,
            Clock clock,
            int maxRanks,
            WatchSettings watch,
            RankAccountKeeper accounts) {
        this.node = node;
        this.processes = processes;
        this.turns = turns;
        this.clock = clock;
        this.maxRanks = maxRanks;
        this.watch = watch;
        this.accounts = accounts;
        this.codec = new RankCodec(watch.snapshotSteps());
    }

    /**
     * The sessions, for the hub's thread; {@code events} brings what sessions say back to it.
     *
     * @param defaultOverhead what a process on a real device uses beside its allocator, until that is measured
     */
    public RankSessions sessions(
            RankSessions.Spawner spawner,
            RankSessions.UseListener useListener,
            MemoryBytes defaultOverhead,
            Consumer<RankSessions.Event> events) {
        RankSessions.SessionFactory factory = (admitted, keeper) -> RankSession.create(new RankSession.Setup(
                admitted.instance(),
                admitted.connected().hello().facts(),
                keeper,
                new TurnSeat(turns, admitted.instance(), admitted.device().id()),
                self -> newHandle(admitted, self),
                Optional.of(defaultOverhead).filter(bytes -> admitted.device().kind() != DeviceKind.SIMULATED),
                new RankSessions.SessionListener(admitted.device().id(), events),
                codec,
                new WatchedRank(watch),
                new RankAccount.Whose(
                        admitted.instance(),
                        admitted.device().id(),
                        admitted.connected().hello().facts().worldSize()),
                clock));
        return new RankSessions(
                processes,
                directory,
                factory,
                useListener,
                spawner,
                new RankSessions.Serving(codec, maxRanks, clock, accounts));
    }

    private SessionHandle newHandle(
            RankAdmission.Admitted admitted, org.apache.pekko.actor.typed.ActorRef<RankSession.Command> session) {
        byte[] token = new byte[TOKEN_BYTES];
        random.nextBytes(token);
        SessionHandle handle = new SessionHandle(
                admitted.instance().toString(),
                Base64.getUrlEncoder().withoutPadding().encodeToString(token),
                session,
                new TurnSeat(turns, admitted.instance(), admitted.device().id()),
                clock.instant());
        directory.put(handle);
        return handle;
    }

    /**
     * Opens the socket.
     *
     * @param devices chooses a rank's device
     * @param memory a device's newest totals
     * @param events takes admitted processes to the hub's thread
     * @param onFailure told when the socket serves no more although nobody closed it
     */
    public RankServer open(
            Path socket,
            RankDevices devices,
            Function<DeviceInfo, Optional<MemoryUse>> memory,
            Consumer<RankSessions.Event> events,
            Runnable onFailure)
            throws IOException {
        RankAdmission admission = new RankAdmission(
                node,
                processes,
                devices::choose,
                memory,
                directory,
                codec,
                admitted -> events.accept(new RankSessions.Admit(admitted)));
        return RankServer.start(socket, admission, clock, maxRanks * CONNECTIONS_PER_RANK, onFailure);
    }
}
