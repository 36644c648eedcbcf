package dev.ullage.worker.ranks;

import static dev.ullage.common.testing.Eventually.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;

/** The other end of a rank socket. */
public final class RankClient implements AutoCloseable {
    private final SocketChannel channel;
    private final ByteBuffer buffer = ByteBuffer.allocate(64 * 1024);
    private final StringBuilder unfinished = new StringBuilder();
    private final Deque<String> lines = new ArrayDeque<>();
    private boolean ended;

    private RankClient(SocketChannel channel) {
        this.channel = channel;
    }

    public static RankClient connect(Path socket) throws IOException {
        SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket));
        channel.configureBlocking(false);
        return new RankClient(channel);
    }

    /** The hello of rank {@code rank}, the process {@code pid}; {@code more} is put at its end. */
    public static String hello(int rank, long pid, String more) {
        return "{\"type\":\"hello\",\"version\":1,\"job\":\"job\",\"rank\":" + rank
                + ",\"worldSize\":1000,\"localRank\":0,\"pid\":" + pid + ",\"launcher\":\"torchrun\"" + more + "}";
    }

    public void say(String line) throws IOException {
        sayRaw((line + "\n").getBytes(UTF_8));
    }

    public void sayRaw(byte[] bytes) throws IOException {
        ByteBuffer source = ByteBuffer.wrap(bytes);
        eventually("the worker reads", () -> {
            try {
                channel.write(source);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return !source.hasRemaining();
        });
    }

    /** The next line, waited for. */
    public JsonNode hear() throws IOException {
        eventually("a line comes", () -> {
            receive();
            return !lines.isEmpty();
        });
        return new ObjectMapper().readTree(lines.remove());
    }

    /** Whether nothing has come that was not heard. */
    public boolean hearsNothing() {
        receive();
        return lines.isEmpty();
    }

    public void awaitEnd() {
        eventually("the worker closes", () -> {
            receive();
            return ended;
        });
    }

    private void receive() {
        try {
            int size = channel.read(buffer.clear());
            ended |= size < 0;
            unfinished.append(UTF_8.decode(buffer.flip()));
            for (int end = unfinished.indexOf("\n"); end >= 0; end = unfinished.indexOf("\n")) {
                lines.add(unfinished.substring(0, end));
                unfinished.delete(0, end + 1);
            }
        } catch (IOException e) {
            ended = true;
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    /** Opens this connection as the call connection of a session that was welcomed. */
    void attach(JsonNode welcome) throws IOException {
        say("{\"type\":\"attach\",\"session\":\"" + welcome.path("session").textValue() + "\",\"token\":\""
                + welcome.path("token").textValue() + "\"}");
    }

    void expectError(String code, String message) throws IOException {
        JsonNode error = hear();
        assertThat(error.path("type").textValue()).isEqualTo("error");
        assertThat(error.path("code").textValue()).isEqualTo(code);
        assertThat(error.path("message").textValue()).startsWith(message);
        awaitEnd();
    }
}
