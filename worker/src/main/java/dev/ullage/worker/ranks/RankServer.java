package dev.ullage.worker.ranks;

import dev.ullage.common.model.Counts;
import dev.ullage.worker.ranks.BadMessageException.Code;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import jdk.net.ExtendedSocketOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rank socket: one thread that accepts, reads and writes all session connections without ever blocking, and hands
 * each call connection to a thread of its own ({@link CallConnections}), where a waiting rank is answered without a
 * change of thread.
 */
public final class RankServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RankServer.class);
    private static final Duration CLOSE_WITHIN = Duration.ofSeconds(5);
    private static final Duration HELLO_WITHIN = Duration.ofSeconds(5);
    private static final long SELECT_MILLIS = 500;
    private static final long UNTIL_WOKEN = 0;
    private static final int MAX_SOCKET_PATH_BYTES = 107;

    private final Path path;
    private final RankGate gate;
    private final Clock clock;
    private final int maxConnections;
    private final Selector selector;
    private final ServerSocketChannel server;
    private final Runnable onFailure;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(LineBuffer.MAX_LINE_BYTES);
    private final CallConnections calls;
    private final Thread thread;
    private Instant nextLookForSilent = Instant.MIN;
    /** Whether there may be connections that have not said hello: the only ones that are waited for. */
    private boolean isAnySilent;

    private volatile boolean closed;

    private RankServer(
            Path path, RankGate gate, Clock clock, int maxConnections, ServerSocketChannel server, Runnable onFailure)
            throws IOException {
        this.path = path;
        this.gate = gate;
        this.clock = clock;
        this.maxConnections = maxConnections;
        this.server = server;
        this.onFailure = onFailure;
        this.selector = Selector.open();
        this.calls = new CallConnections(gate, clock, maxConnections);
        this.thread = new Thread(this::run, "rank-socket");
        thread.setDaemon(true);
    }

    /**
     * Binds the socket and starts serving. The caller holds the lock of the folder, so a socket file that is there is
     * left over and is replaced.
     *
     * @param onFailure told when the socket serves no more although nobody closed it
     */
    static RankServer start(Path path, RankGate gate, Clock clock, int maxConnections, Runnable onFailure)
            throws IOException {
        if (path.toString().getBytes(StandardCharsets.UTF_8).length > MAX_SOCKET_PATH_BYTES) {
            throw new IOException("the path of the rank socket is too long for a Unix socket (" + MAX_SOCKET_PATH_BYTES
                    + " bytes at most): " + path + "; use a shorter state folder");
        }
        Files.deleteIfExists(path);
        ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(path));
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-rw-rw-"));
        server.configureBlocking(false);
        RankServer started = new RankServer(path, gate, clock, maxConnections, server, onFailure);
        server.register(started.selector, SelectionKey.OP_ACCEPT);
        started.thread.start();
        return started;
    }

    public Path path() {
        return path;
    }

    private void onOwnThread(Runnable task) {
        tasks.add(task);
        selector.wakeup();
    }

    private void run() {
        try {
            while (!closed) {
                selector.select(isAnySilent ? SELECT_MILLIS : UNTIL_WOKEN);
                runTasks();
                serveReady();
                closeTheSilent();
            }
        } catch (IOException | RuntimeException e) {
            LOG.error("reason=\"the rank socket failed; the worker stops, ranks keep their limits\"", e);
            onFailure.run();
        } finally {
            closeAll();
        }
    }

    private void runTasks() {
        if (tasks.isEmpty()) {
            return;
        }
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
        for (SessionConnection connection : connections()) {
            updateInterest(connection);
        }
    }

    private void serveReady() {
        // A copy: a connection that becomes a call selects again meanwhile.
        List<SelectionKey> ready = List.copyOf(selector.selectedKeys());
        selector.selectedKeys().clear();
        for (SelectionKey key : ready) {
            if (key.isValid() && key.isAcceptable()) {
                accept();
            } else if (key.attachment() instanceof SessionConnection connection) {
                serve(key, connection);
            }
        }
    }

    private void accept() {
        try {
            SocketChannel channel = server.accept();
            if (channel == null) {
                return;
            }
            channel.configureBlocking(false);
            SessionConnection connection =
                    new SessionConnection(channel, this::onOwnThread, gate::disconnected, clock.instant());
            if (selector.keys().size() + calls.count() > maxConnections) {
                connection.sendLast(gate.codec()
                        .error(new BadMessageException(
                                Code.TOO_MANY_RANKS,
                                "this worker serves at most " + Counts.of(maxConnections, "connection"))));
                return;
            }
            channel.register(selector, SelectionKey.OP_READ, connection);
            isAnySilent = true;
        } catch (IOException e) {
            LOG.warn("reason=\"a rank could not be accepted: {}\"", e.getMessage());
        }
    }

    private void serve(SelectionKey key, SessionConnection connection) {
        if (key.isValid() && key.isWritable()) {
            connection.flush();
        }
        if (key.isValid() && key.isReadable()) {
            try {
                read(key, connection);
            } catch (RuntimeException e) {
                LOG.error("reason=\"a bug met by what one rank said; only that rank is disconnected\"", e);
                connection.closeNow();
            }
        }
        updateInterest(connection);
    }

    private void updateInterest(SessionConnection connection) {
        SelectionKey key = connection.channel().keyFor(selector);
        if (key != null && key.isValid()) {
            key.interestOps(
                    connection.hasQueued() ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ);
        }
    }

    private void read(SelectionKey key, SessionConnection connection) {
        try {
            buffer.clear();
            if (connection.channel().read(buffer) < 0) {
                connection.closeNow();
                return;
            }
            connection.lines().add(buffer.flip());
            byte[] line = connection.lines().next();
            while (line != null && connection.channel().isOpen()) {
                if (!handle(key, connection, line)) {
                    return;
                }
                line = connection.lines().next();
            }
            if (connection.lines().isTooLong()) {
                throw new BadMessageException(
                        Code.BAD_MESSAGE, "a line is longer than " + LineBuffer.MAX_LINE_BYTES + " bytes");
            }
        } catch (BadMessageException e) {
            LOG.info("refused={} reason=\"{}\"", e.code(), e.getMessage());
            connection.sendLast(gate.codec().error(e));
        } catch (IOException e) {
            connection.closeNow();
        }
    }

    /** Returns whether the connection stays on this thread. */
    private boolean handle(SelectionKey key, SessionConnection connection, byte[] line)
            throws BadMessageException, IOException {
        RankMessage message = gate.codec().parse(line);
        if (message instanceof RankMessage.Hello hello) {
            if (connection.isIntroduced()) {
                throw new BadMessageException(Code.BAD_MESSAGE, "hello was said before on this connection");
            }
            String peer = connection
                    .channel()
                    .getOption(ExtendedSocketOptions.SO_PEERCRED)
                    .user()
                    .getName();
            gate.hello(hello, peer, connection);
            connection.introduce();
            return true;
        }
        if (message instanceof RankMessage.Attach attach) {
            if (connection.isIntroduced()) {
                throw new BadMessageException(Code.BAD_MESSAGE, "attach must be the first line of a connection");
            }
            SessionHandle handle = gate.attach(attach);
            key.cancel();
            selector.selectNow();
            // Whoever left a task meanwhile woke that one in vain.
            selector.wakeup();
            calls.serve(connection.channel(), connection.lines(), handle);
            return false;
        }
        if (!connection.isIntroduced()) {
            throw new BadMessageException(Code.BAD_MESSAGE, "the first line must be hello or attach");
        }
        if (!(message instanceof RankMessage.NotKnown unknown)) {
            gate.said(connection, message);
        } else if (connection.isFirstUnknown()) {
            SessionHandle session = connection.session();
            LOG.warn(CallConnections.NOT_KNOWN, session == null ? "?" : session.id(), unknown.what());
        }
        return true;
    }

    private void closeTheSilent() {
        Instant now = clock.instant();
        if (now.isBefore(nextLookForSilent)) {
            return;
        }
        nextLookForSilent = now.plusMillis(SELECT_MILLIS);
        isAnySilent = false;
        for (SessionConnection connection : connections()) {
            boolean late = now.isAfter(connection.accepted().plus(HELLO_WITHIN));
            if (!connection.isIntroduced() && late) {
                connection.closeNow();
            } else if (!connection.isIntroduced()) {
                isAnySilent = true;
            }
        }
    }

    private List<SessionConnection> connections() {
        List<SessionConnection> connections = new ArrayList<>();
        for (SelectionKey key : selector.keys()) {
            if (key.attachment() instanceof SessionConnection connection) {
                connections.add(connection);
            }
        }
        return connections;
    }

    /** Stops serving; ranks keep their last limits and will try to connect again. */
    @Override
    public void close() throws IOException {
        closed = true;
        selector.wakeup();
        try {
            thread.join(CLOSE_WITHIN.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Files.deleteIfExists(path);
    }

    /** On the socket's own thread: its selector and connections are touched by no other. */
    private void closeAll() {
        try {
            calls.close();
            server.close();
            connections().forEach(SessionConnection::closeNow);
            selector.close();
        } catch (IOException e) {
            LOG.debug("reason=\"the rank socket did not close: {}\"", e.getMessage());
        }
    }
}
