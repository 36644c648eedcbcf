package dev.ullage.worker.ranks;

import dev.ullage.common.model.Counts;
import dev.ullage.worker.ranks.BadMessageException.Code;
import dev.ullage.worker.ranks.RankMessage.PhaseEntered;
import dev.ullage.worker.turns.TurnAnswer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Clock;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The call connections, each on a thread of its own that blocks on its socket: the thread that reads a call also
 * answers it. Only its own rank is kept waiting when that rank does not read.
 */
final class CallConnections {
    /** Said once for each connection, with its session and what was said. */
    static final String NOT_KNOWN =
            "session={} ignored=\"{}\" reason=\"not known to this worker: the client is of a newer version\"";

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
                    Code.TOO_MANY_RANKS, "this worker serves at most " + Counts.of(maxConnections, "call connection"));
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
            Calls calls = new Calls(channel, handle, new AtomicBoolean());
            write(channel, gate.codec().attached());
            serveLines(calls, lines);
            while (channel.read(buffer) >= 0) {
                lines.add(buffer.flip());
                serveLines(calls, lines);
                buffer.clear();
            }
        } catch (IOException e) {
            LOG.debug("session={} reason=\"call connection ended: {}\"", handle.id(), e.getMessage());
        } finally {
            open.remove(channel);
        }
    }

    /** One connection, and the process it serves. */
    private record Calls(SocketChannel channel, SessionHandle handle, AtomicBoolean hasSaidUnknown) {}

    private void serveLines(Calls calls, LineBuffer lines) throws IOException {
        try {
            answerLines(calls, lines);
        } catch (BadMessageException e) {
            LOG.info("session={} refused={} reason=\"{}\"", calls.handle().id(), e.code(), e.getMessage());
            write(calls.channel(), gate.codec().error(e));
            calls.channel().close();
        }
    }

    private void answerLines(Calls calls, LineBuffer lines) throws IOException, BadMessageException {
        SocketChannel channel = calls.channel();
        SessionHandle handle = calls.handle();
        for (byte[] line = lines.next(); line != null; line = lines.next()) {
            PhaseEntered entered = PhaseLine.parse(line);
            if (entered == null) {
                entered = parsed(line, calls);
            }
            if (entered == null) {
                continue;
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

    /** The phase that a line tells of; null when it was about a turn, and has been seen to. */
    private @Nullable PhaseEntered parsed(byte[] line, Calls calls) throws IOException, BadMessageException {
        RankMessage message = gate.codec().parse(line);
        if (message instanceof PhaseEntered entered) {
            return entered;
        }
        if (message instanceof RankMessage.TurnAsked asked) {
            giveTurn(calls, asked.id());
            return null;
        }
        if (message instanceof RankMessage.TurnReleased released) {
            calls.handle().seat().released(released.id());
            return null;
        }
        if (message instanceof RankMessage.NotKnown unknown) {
            passOver(calls, unknown);
            return null;
        }
        throw new BadMessageException(Code.BAD_MESSAGE, "only phase and turn are understood on a call connection");
    }

    /** Whoever waits for an answer is told that no limit was granted for that; it has the one that it knows. */
    private void passOver(Calls calls, RankMessage.NotKnown unknown) throws IOException {
        if (calls.hasSaidUnknown().compareAndSet(false, true)) {
            LOG.warn(NOT_KNOWN, calls.handle().id(), unknown.what());
        }
        if (unknown.id().isPresent()) {
            write(calls.channel(), gate.codec().entered(unknown.id().getAsLong(), 0, OptionalLong.empty()));
        }
    }

    /** Waits, which nobody else on this thread minds. A turn that cannot be told of is given back. */
    private void giveTurn(Calls calls, long id) throws IOException {
        TurnAnswer answer = calls.handle().seat().ask(id);
        try {
            write(calls.channel(), gate.codec().turn(id, answer));
        } catch (IOException e) {
            calls.handle().seat().released(id);
            throw e;
        }
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
