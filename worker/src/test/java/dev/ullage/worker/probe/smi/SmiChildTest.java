package dev.ullage.worker.probe.smi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.worker.probe.smi.SmiTool.Answer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Case G04: a tool that never answers. */
class SmiChildTest {
    private static final Duration SOON = Duration.ofMillis(150);
    private static final List<String> ANY = List.of("-q", "-x");

    @TempDir
    Path folder = Path.of("");

    @Test
    void theOutputIsTheAnswerWhateverTheToolEndsWith() throws IOException {
        Path tool = script("echo \"$1 $2\"; echo noise >&2; exit 9");
        assertThat(new SmiChild(tool.toString(), Duration.ofSeconds(10)).run(ANY))
                .isEqualTo(Answer.of("-q -x\n"));
        assertThat(new SmiChild(script("exit 9").toString(), Duration.ofSeconds(10)).run(ANY))
                .isEqualTo(Answer.failed(folder.resolve("tool") + " printed nothing and ended with code 9"));
    }

    @Test
    void aToolThatPrintsWithoutEndIsEndedBeforeItFillsTheDisk() throws IOException {
        for (String noise : List.of("exec yes", "head -c 20000000 /dev/zero")) {
            assertThat(new SmiChild(script(noise).toString(), Duration.ofMinutes(5)).run(ANY))
                    .as(noise)
                    .isEqualTo(Answer.failed(folder.resolve("tool") + " prints more than 16.0 MiB and was ended"));
        }
    }

    @Test
    void aToolThatIsNotThereIsAFailureAndNotAnError() {
        Answer answer = new SmiChild("no-such-tool-of-nobody", SOON).run(ANY);
        assertThat(answer.output()).isEmpty();
        assertThat(answer.failure())
                .startsWith("no-such-tool-of-nobody cannot be run: ")
                .contains("No such file or directory")
                .doesNotContain("Cannot run program");
    }

    // Goal: 20 scrapers never have more than one tool running, and none is left. Method: the case's own tool, which
    // ignores SIGTERM, logs its process ids.
    @Test
    void aToolThatHangsIsEndedAndNeverTwiceThere() throws Exception {
        Path log = folder.resolve("pids");
        Path fake = Path.of(Objects.requireNonNull(SmiChildTest.class.getResource("/cases/G04/fake-nvidia-smi.sh"))
                .getPath());
        Path tool = script("PIDLOG=%s exec sh %s".formatted(log, fake));
        SmiChild child = new SmiChild(tool.toString(), SOON);
        ExecutorService scrapers = Executors.newFixedThreadPool(20);
        List<Future<Answer>> answers = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            answers.add(scrapers.submit(() -> {
                // Those before it are gone when this one starts.
                return child.run(ANY);
            }));
        }
        for (Future<Answer> answer : answers) {
            assertThat(answer.get(60, TimeUnit.SECONDS).failure())
                    .contains("gave no answer within 150 ms and was ended");
            assertThat(alive(log)).hasSizeLessThanOrEqualTo(1);
        }
        scrapers.shutdown();
        assertThat(Files.readAllLines(log)).isNotEmpty().doesNotHaveDuplicates();
        assertThat(alive(log)).isEmpty();
    }

    @Test
    void whileOneCannotBeEndedNoSecondOneIsStarted() {
        StuckProcess stuck = new StuckProcess();
        List<List<String>> started = new ArrayList<>();
        SmiChild child = new SmiChild("nvidia-smi", SOON, SOON, (command, output) -> {
            started.add(command);
            return stuck;
        });

        String failure = "nvidia-smi (process 4242) gives no answer and cannot be ended: it is stuck in the driver;"
                + " no second one is started while it is there";
        assertThat(child.run(ANY)).isEqualTo(Answer.failed(failure));
        assertThat(child.run(ANY)).isEqualTo(Answer.failed(failure));
        assertThat(started).containsExactly(List.of("nvidia-smi", "-q", "-x"));
        assertThat(stuck.kills).isEqualTo(1);

        stuck.isThere = false;
        child.run(ANY);
        assertThat(started).hasSize(2);
    }

    private static List<Long> alive(Path log) throws IOException {
        if (!Files.exists(log)) {
            return List.of();
        }
        return Files.readAllLines(log).stream()
                .map(Long::parseLong)
                .filter(pid -> ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false))
                .toList();
    }

    private Path script(String body) throws IOException {
        Path file = folder.resolve("tool");
        Files.writeString(file, "#!/bin/sh\n" + body + "\n");
        assertThat(file.toFile().setExecutable(true)).isTrue();
        return file;
    }

    /** In the D state: signals wait until the driver lets go. */
    private static final class StuckProcess extends Process {
        private boolean isThere = true;
        private int kills;

        @Override
        public boolean isAlive() {
            return isThere;
        }

        @Override
        public boolean waitFor(long timeout, TimeUnit unit) {
            return !isThere;
        }

        @Override
        public Process destroyForcibly() {
            kills++;
            return this;
        }

        @Override
        public long pid() {
            return 4242;
        }

        @Override
        public Stream<ProcessHandle> descendants() {
            return Stream.empty();
        }

        @Override
        public int waitFor() {
            throw new UnsupportedOperationException();
        }

        @Override
        public int exitValue() {
            return 0;
        }

        @Override
        public void destroy() {
            throw new UnsupportedOperationException();
        }

        @Override
        public OutputStream getOutputStream() {
            return OutputStream.nullOutputStream();
        }

        @Override
        public InputStream getInputStream() {
            return InputStream.nullInputStream();
        }

        @Override
        public InputStream getErrorStream() {
            return InputStream.nullInputStream();
        }
    }
}
