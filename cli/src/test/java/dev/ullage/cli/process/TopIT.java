package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ullage top} on a real terminal: what it shows, what keys and a new size do, and what it leaves behind. */
class TopIT {
    private static final Duration JOIN_WITHIN = Duration.ofMinutes(1);
    private static final Duration END_WITHIN = Duration.ofMinutes(2);

    /** Runs its arguments on a terminal of their own, and plays somebody who looks, types, and makes it smaller. */
    private static final String PLAYER =
            """
            import fcntl, os, pty, select, struct, sys, termios, time

            pid, terminal = pty.fork()
            if pid == 0:
                os.environ.update(TERM="xterm", NO_COLOR="1")
                os.execv(sys.argv[1], sys.argv[1:])

            def resize(rows, columns):
                fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

            def wait_for(*texts):
                seen, deadline = "", time.monotonic() + 60
                while not all(text in seen for text in texts):
                    if time.monotonic() > deadline:
                        sys.exit("waited in vain for " + repr(texts) + ", saw " + repr(seen[-3000:]))
                    if select.select([terminal], [], [], 0.5)[0]:
                        seen += os.read(terminal, 65536).decode(errors="replace")
                return seen

            before = termios.tcgetattr(terminal)
            resize(30, 120)
            wait_for("plain-job/0", "[device]", "allocator")
            os.write(terminal, b"u")
            wait_for("[used]")
            resize(12, 50)
            frame = wait_for("\\x1b[H", "q quit").split("\\x1b[H")[-1]
            lines = frame.replace("\\x1b[K", "").replace("\\x1b[J", "").replace("\\r", "").split("\\n")
            assert len(lines) == 12 and max(map(len, lines)) <= 50, lines
            os.write(terminal, b"q")
            left = wait_for("\\x1b[?1049l")
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            assert termios.tcgetattr(terminal)[3] == before[3], "the terminal is not as it was"
            print("left with", code)
            """;

    @TempDir
    private Path folder;

    @Test
    void itShowsTheRankUntilQIsTypedAndLeavesTheTerminalAsItWas() {
        try (UpNode node = UpNode.start(folder, "2xH100-80G");
                PlainRanks ranks = new PlainRanks()) {
            ranks.add(folder, node.socket(), 0, 1, 1);
            node.api().await("the rank settles", JOIN_WITHIN, now -> Api.areSettled(now, 1));
            List<String> command = List.of(
                    Distribution.PYTHON,
                    "-c",
                    PLAYER,
                    Distribution.ullage(),
                    "top",
                    "--server",
                    node.api().base());

            try (TestProcess player = TestProcess.start(folder, "player", command, Map.of())) {
                int code = player.awaitExit(END_WITHIN);

                assertThat(code).as(player.log()).isZero();
                assertThat(player.log()).contains("left with 0");
            }
            List<String> piped =
                    List.of(Distribution.ullage(), "top", "--server", node.api().base());
            try (TestProcess once = TestProcess.start(folder, "once", piped, Map.of())) {
                assertThat(once.awaitExit(END_WITHIN)).as(once.log()).isZero();
                assertThat(once.log()).contains("plain-job/0").doesNotContain("\u001b");
            }
            ranks.stopAll();
        }
    }
}
