package dev.ullage.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.cli.show.Terminal;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EventsCommandTest {
    private static final String EVENT = "{\"id\":\"3.17\",\"time\":\"2026-01-01T00:00:00Z\",\"kind\":\"limit-changed\","
            + "\"severity\":\"info\",\"text\":\"limit of rank a/0:\\n64.0 GiB -> 32.0 GiB\"}";
    private static final String LINE =
            "2026-01-01T00:00:00Z      3.17    limit-changed       limit of rank a/0:?64.0 GiB -> 32.0 GiB\n";

    private final FakeServer server;

    EventsCommandTest() throws IOException {
        this.server = new FakeServer();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private record Outcome(int code, String out, String err) {}

    private Outcome run(Writer out, String... arguments) {
        StringWriter err = new StringWriter();
        CliEnvironment environment =
                new CliEnvironment(Map.of(), new PrintWriter(out), new PrintWriter(err), Terminal.NONE);
        String[] all = new String[arguments.length + 3];
        all[0] = "events";
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        all[arguments.length + 1] = "--server";
        all[arguments.length + 2] = server.uri().toString();
        int code = UllageMain.commandLine(environment).execute(all);
        return new Outcome(code, out.toString(), err.toString());
    }

    @Test
    void anEventIsALineWhateverItsTextHolds() {
        server.answerWith(200, "{\"schema\":1,\"complete\":true,\"items\":[" + EVENT + "]}");

        assertThat(run(new StringWriter())).isEqualTo(new Outcome(0, LINE, ""));
    }

    @Test
    void asJsonItIsWhatTheServerSays() {
        String page = "{\"schema\":1,\"complete\":false,\"items\":[]}";
        server.answerWith(200, page);

        assertThat(run(new StringWriter(), "--json")).isEqualTo(new Outcome(0, page + "\n", ""));
    }

    @Test
    void itSaysWhenEarlierEventsAreNotKnown() {
        server.answerWith(200, "{\"schema\":1,\"complete\":false,\"items\":[]}");

        assertThat(run(new StringWriter(), "--since", "2.9").err()).contains("earlier events are not known");
    }

    @Test
    void anIdMustBeOne() {
        Outcome outcome = run(new StringWriter(), "--since", "yesterday");

        assertThat(outcome.code()).isEqualTo(ExitCode.USAGE.code());
        assertThat(outcome.err()).contains("'yesterday' must look like 3.17");
        assertThat(server.requests()).isEmpty();
    }

    // Goal: it goes on after the last event it has shown. Method: each connection ends after one message, and the
    // reading end of the pipe closes after the second line.
    @Test
    void followingItReadsOnAfterWhatItHasShown() {
        server.answerWith(
                200,
                ":\n\nevent: snapshot\ndata: {}\n\nid: 3.17\nevent: events\ndata: {\"complete\":true,\"events\":["
                        + EVENT + "]}\n\n");
        FullAfter out = new FullAfter(2);

        Outcome outcome = run(out, "--follow", "--json");

        assertThat(outcome).isEqualTo(new Outcome(0, EVENT + "\n" + EVENT + "\n", ""));
        assertThat(server.requests())
                .extracting(FakeServer.Request::lastEventId)
                .startsWith("", "3.17");
    }

    @Test
    void whereNobodyEverAnsweredFollowingEnds() {
        server.close();

        assertThat(run(new StringWriter(), "--follow").code()).isEqualTo(ExitCode.UNREACHABLE.code());
    }

    /** The reading end of a pipe that closes after some lines. */
    private static final class FullAfter extends Writer {
        private final StringBuilder text = new StringBuilder();
        private final int maxLines;

        FullAfter(int maxLines) {
            this.maxLines = maxLines;
        }

        @Override
        public void write(char[] written, int offset, int length) throws IOException {
            if (text.chars().filter(letter -> letter == '\n').count() >= maxLines) {
                throw new IOException("nobody reads");
            }
            text.append(written, offset, length);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}

        @Override
        public String toString() {
            return text.toString();
        }
    }
}
