package dev.ullage.worker.ranks;

import dev.ullage.worker.ranks.BadMessageException.Code;
import dev.ullage.worker.ranks.RankMessage.PhaseEntered;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Clock;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The call connections, each on a thread of its own that blocks on its socket: the thread that reads a call also
 * answers it. Only its own rank is kept waiting when that rank does not read.
 */
final class CallConnections {
    private static final Logger LOG = LoggerFactory.getLogger(CallConnections.class);

    private final RankGate gate;
    private final Clock clock;
    private final int maxConnections;
    private final Set<SocketChannel> open = ConcurrentHashMap.newKeySet();

    CallConnections(RankGate gate, Clock clock, int maxConnections) {
        this.gate = gate;
        this.clock = clock;
        this.maxConnections = maxConnections;
    }

    int count() {
        return open.size();
    }

    /** Takes over a connection that has said {@code attach}. */
    void serve(SocketChannel channel, LineBuffer lines, SessionHandle handle) throws BadMessageException {
        if (open.size() >= maxConnections) {
            throw new BadMessageException(
                    Code.TOO_MANY_RANKS, "this worker serves at most " + maxConnections + " call connections");
        }
        open.add(channel);
        Thread thread = new Thread(() -> run(channel, lines, handle), "rank-call-" + handle.id());
        thread.setDaemon(true);
        thread.start();
    }

    private void run(SocketChannel channel, LineBuffer lines, SessionHandle handle) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(8 * 1024);
        try (channel) {
            channel.configureBlocking(true);
            write(channel, gate.codec().attached());
            serveLines(channel, lines, handle);
            while (channel.read(buffer) >= 0) {
                lines.add(buffer.flip());
                serveLines(channel, lines, handle);
                buffer.clear();
            }
        } catch (IOException e) {
            LOG.debug("session={} reason=\"call connection ended: {}\"", handle.id(), e.getMessage());
        } finally {
            open.remove(channel);
        }
    }

    private void serveLines(SocketChannel channel, LineBuffer lines, SessionHandle handle) throws IOException {
        try {
            answerLines(channel, lines, handle);
        } catch (BadMessageException e) {
            LOG.info("session={} refused={} reason=\"{}\"", handle.id(), e.code(), e.getMessage());
            write(channel, gate.codec().error(e));
            channel.close();
        }
    }

    private void answerLines(SocketChannel channel, LineBuffer lines, SessionHandle handle)
            throws IOException, BadMessageException {
        for (byte[] line = lines.next(); line != null; line = lines.next()) {
            PhaseEntered entered = PhaseLine.parse(line);
            if (entered == null) {
                entered = parsed(line);
            }
            if (entered.id().isPresent()) {
                write(
                        channel,
                        handle.answer(
                                gate.codec(), entered.phase(), entered.id().getAsLong()));
            }
            handle.enter(entered, clock.instant());
        }
        if (lines.isTooLong()) {
            throw new BadMessageException(
                    Code.BAD_MESSAGE, "a line is longer than " + LineBuffer.MAX_LINE_BYTES + " bytes");
        }
    }

    private PhaseEntered parsed(byte[] line) throws BadMessageException {
        if (gate.codec().parse(line) instanceof PhaseEntered entered) {
            return entered;
        }
        throw new BadMessageException(Code.BAD_MESSAGE, "only phase is understood on a call connection");
    }

    private static void write(SocketChannel channel, byte[] line) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(line);
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    void close() throws IOException {
        for (SocketChannel channel : open) {
            channel.close();
        }
    }
}
