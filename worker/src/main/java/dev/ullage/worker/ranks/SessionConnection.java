package dev.ullage.worker.ranks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection on the socket's own thread, from accept until it ends or is handed over as a call connection. Other
 * threads only {@link #send} and {@link #close}; both are passed to the socket's thread.
 */
final class SessionConnection implements RankChannel {
    private static final Logger LOG = LoggerFactory.getLogger(SessionConnection.class);
    private static final int MAX_QUEUED_BYTES = 256 * 1024;

    private final SocketChannel channel;
    private final Consumer<Runnable> onOwnThread;
    private final Consumer<SessionConnection> onClosed;
    private final Instant accepted;
    private final LineBuffer lines = new LineBuffer();
    private final Deque<ByteBuffer> queue = new ArrayDeque<>();
    private int queuedBytes;
    private volatile @Nullable SessionHandle session;
    private boolean introduced;
    private boolean saidUnknown;

    /**
     * @param onOwnThread runs a task on the socket's thread
     * @param onClosed told once, on that thread
     */
    SessionConnection(
            SocketChannel channel,
            Consumer<Runnable> onOwnThread,
            Consumer<SessionConnection> onClosed,
            Instant accepted) {
        this.channel = channel;
        this.onOwnThread = onOwnThread;
        this.onClosed = onClosed;
        this.accepted = accepted;
    }

    SocketChannel channel() {
        return channel;
    }

    Instant accepted() {
        return accepted;
    }

    LineBuffer lines() {
        return lines;
    }

    /** Whether its hello was accepted; until then it is closed after a while. */
    boolean isIntroduced() {
        return introduced;
    }

    void introduce() {
        introduced = true;
    }

    /** Whether this is the first line on this connection that only a newer worker would know. */
    boolean isFirstUnknown() {
        boolean isFirst = !saidUnknown;
        saidUnknown = true;
        return isFirst;
    }

    @Nullable
    SessionHandle session() {
        return session;
    }

    @Override
    public void send(byte[] line) {
        onOwnThread.accept(() -> write(line));
    }

    /** Sends a last line, as far as the socket takes it, and closes. A peer that does not read cannot delay that. */
    void sendLast(byte[] line) {
        write(line);
        closeNow();
    }

    @Override
    public void close() {
        onOwnThread.accept(this::closeNow);
    }

    /** Binds the session that answers for this connection; before its welcome, so before anything else is said. */
    void bind(SessionHandle handle) {
        session = handle;
    }

    private void write(byte[] line) {
        if (!channel.isOpen()) {
            return;
        }
        queue.add(ByteBuffer.wrap(line));
        queuedBytes += line.length;
        if (queuedBytes > MAX_QUEUED_BYTES) {
            closeNow();
        } else {
            flush();
        }
    }

    /** Writes what the socket takes. */
    void flush() {
        try {
            while (!queue.isEmpty()) {
                ByteBuffer head = queue.peek();
                queuedBytes -= channel.write(head);
                if (head.hasRemaining()) {
                    return;
                }
                queue.remove();
            }
        } catch (IOException e) {
            closeNow();
        }
    }

    boolean hasQueued() {
        return !queue.isEmpty();
    }

    void closeNow() {
        if (!channel.isOpen()) {
            return;
        }
        try {
            channel.close();
        } catch (IOException e) {
            LOG.debug("reason=\"a rank's socket did not close: {}\"", e.getMessage());
        }
        onClosed.accept(this);
    }
}
