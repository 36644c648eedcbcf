package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.cli.page.BigQueue;
import dev.ullage.cli.page.Browser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;

/** The queue and the evenness of jobs on the live page of a real node, in a real browser. */
class PageQueueIT {
    private static final Duration SOON = Duration.ofMinutes(1);
    private static final String ODD_JOB = BigQueue.ODD_JOB;

    private final int port = Ports.free();

    @TempDir
    private Path folder;

    private TestProcess up() throws IOException {
        Files.writeString(
                settings(),
                """
                ullage {
                  node.state-dir = "%s"
                  cluster.port = 0
                  http.port = %d
                  worker.devices.simulate = "2xH100-80G"
                  worker.host { cpus = 12.5, memory = 64GiB }
                  coordinator.evenness { every = 500ms, looks = 2 }
                }
                """
                        .formatted(state(), port));
        TestProcess node = TestProcess.start(
                folder,
                "up",
                List.of(Distribution.ullage(), "up", "--config", settings().toString()),
                Map.of());
        node.awaitOutput("is ready", UpNode.READY_WITHIN);
        return node;
    }

    private Path settings() {
        return folder.resolve("page.conf");
    }

    private Path state() {
        return folder.resolve("state");
    }

    private Api api() {
        return new Api(port);
    }

    private TestProcess run(String name, String job, int ranks, String... options) {
        List<String> command = new ArrayList<>(List.of(
                Distribution.ullage(),
                "run",
                "--config",
                settings().toString(),
                "--server",
                api().base(),
                "--token-file",
                token(),
                "--wait",
                "--memory-per-rank",
                "60GiB",
                "--job",
                job,
                "--ranks",
                Integer.toString(ranks)));
        command.addAll(List.of(options));
        command.addAll(
                List.of("--", "sh", "-c", "echo started; while [ -d %s ]; do sleep 0.1; done".formatted(folder)));
        return TestProcess.start(folder, name, command, Map.of());
    }

    private String token() {
        return state().resolve("operator.token").toString();
    }

    private TestProcess rank(int rank, String job, long demandGibibytes) {
        List<String> command = List.of(
                Distribution.PYTHON,
                "-m",
                "ullage.demo.trainer",
                "--model",
                "plain",
                "--pace",
                "0.02",
                "--seconds",
                "300",
                "--demand-bytes",
                Long.toString(demandGibibytes << 30));
        return TestProcess.start(
                folder,
                "rank-" + rank,
                command,
                Map.of(
                        "ULLAGE_SOCKET",
                        state().resolve("ranks.sock").toString(),
                        "PYTHONPATH",
                        Distribution.pythonPath(),
                        "OMP_NUM_THREADS",
                        "1",
                        "ULLAGE_JOB",
                        job,
                        "RANK",
                        Integer.toString(rank),
                        "WORLD_SIZE",
                        "2",
                        "LOCAL_RANK",
                        Integer.toString(rank)));
    }

    private static void assertStaysText(Browser browser) {
        assertThat(browser.title()).isEqualTo("Ullage");
        assertThat(browser.all("script")).as("the page's own").hasSize(1);
        assertThat(browser.all("img[src=x]")).isEmpty();
    }

    @Test
    void whoWaitsIsShownWithWhatForAndWhenItMayStart() throws IOException {
        try (TestProcess node = up();
                TestProcess holds = run("holds", "holds", 2, "--runs-for", "2h");
                Browser browser = Browser.start(1280, 1000)) {
            holds.awaitOutput("started", SOON);
            browser.open(api().base() + "/");
            browser.await("nobody waits, in one line", SOON, () -> browser.text("#queue-note")
                    .equals("No job waits for room, 1 job has its room."));
            assertThat(browser.one("#queue table").isDisplayed()).isFalse();
            try (TestProcess waits = run("waits", ODD_JOB, 1, "--priority", "high")) {
                browser.await("it waits", SOON, () -> browser.text("#queue tbody .named")
                        .equals(ODD_JOB));
                assertThat(browser.text("#queue tbody .position")).isEqualTo("1");
                assertThat(browser.text("#queue tbody .priority")).isEqualTo("high");
                assertThat(browser.text("#queue tbody .wants")).startsWith("1 rank with 60.0 GiB, on ");
                assertThat(browser.text("#queue tbody .waits-for"))
                        .startsWith("1 device with 60.0 GiB; 0 have that now");
                browser.await("and is told when", SOON, () -> browser.text("#queue tbody .starts span:first-child")
                        .startsWith("in 2 h, "));
                assertThat(browser.text("#queue tbody .starts .small"))
                        .isEqualTo("by the times that the jobs which run there were submitted with");
                assertThat(browser.text("#queue tbody .state")).isEqualTo("waiting");
                assertThat(browser.text("#glance [data-key=waiting] .value")).isEqualTo("1");
                assertStaysText(browser);
                cancelAsThePageSays(browser);
                assertThat(waits.awaitExit(SOON)).as(waits.log()).isEqualTo(6);
            }
            browser.await("nobody waits any more", SOON, () -> browser.text("#queue-note")
                    .equals("No job waits for room, 1 job has its room."));
            assertShowsItsEvents(browser);
            browser.assertNoComplaint();
            assertThat(node.isAlive()).isTrue();
        }
    }

    @Test
    void whatHostsHaveIsShownWithWhatIsAskedOfThem() throws IOException {
        try (TestProcess node = up();
                Browser browser = Browser.start(1280, 1000)) {
            browser.open(api().base() + "/");
            browser.await("what the host has", SOON, () -> browser.text("#hosts td.cpus")
                    .equals("12.5 cores"));
            assertThat(browser.text("#hosts td.memory")).isEqualTo("64.0 GiB");
            browser.await("nobody asks for any of it", SOON, () -> browser.text("#hosts td.cpus-asked")
                    .equals("nothing"));
            assertThat(browser.text("#hosts td.memory-asked")).isEqualTo("nothing");
            assertThat(browser.text("#hosts-note")).isEqualTo("Nothing holds a rank to what it asked for.");
            try (TestProcess asks = run("asks", "asks", 1, "--cpus", "1", "--host-memory", "1GiB")) {
                asks.awaitOutput("started", SOON);
                browser.await("one asks", SOON, () -> browser.text("#hosts td.cpus-asked")
                        .equals("1 core"));
                assertThat(browser.text("#hosts td.memory-asked")).isEqualTo("1.0 GiB");
                assertThat(asks.isAlive()).isTrue();
            }
            browser.assertNoComplaint();
            assertThat(node.isAlive()).isTrue();
        }
    }

    // Goal: what the page shows to be copied does what it says, whatever the job is called. Method: a shell runs it.
    private void cancelAsThePageSays(Browser browser) {
        browser.one("#queue tbody .name").click();
        browser.await(
                "its job is open", SOON, () -> browser.text("#detail-title").equals("Job " + ODD_JOB));
        browser.await("with its request", SOON, () -> browser.text("#detail [data-key=request]")
                .contains("waiting, position 1"));
        browser.await("and what happened to it", SOON, () -> browser.text("#detail .events")
                .contains("waits for room: 1 rank with 60.0 GiB"));
        String shown = browser.all("#detail .commands code").stream()
                .map(code -> code.getText())
                .filter(code -> code.startsWith("ullage cancel "))
                .findFirst()
                .orElseThrow();
        String command = Distribution.ullage() + shown.substring("ullage".length()) + " --server " + api().base()
                + " --token-file " + token();
        try (TestProcess cancel = TestProcess.start(folder, "cancel", List.of("sh", "-c", command), Map.of())) {
            assertThat(cancel.awaitExit(SOON)).as(cancel.log()).isZero();
        }
        browser.await("it is cancelled", SOON, () -> browser.text("#detail [data-key=request]")
                .contains("cancelled"));
        browser.press(Keys.ESCAPE);
        browser.await("it is closed", SOON, () -> !browser.one("#detail").isDisplayed());
    }

    private static void assertShowsItsEvents(Browser browser) {
        browser.one("#topic option[value=queue]").click();
        browser.await(
                "only what is about the queue",
                SOON,
                () -> browser.all("#events [data-kind=rank-joined]").isEmpty()
                        && browser.all("#events [data-kind=job-withdrawn]").size() == 1);
        assertThat(browser.text("#events [data-kind=job-withdrawn] .text")).contains("it was cancelled");
        assertThat(browser.all("#events li:not([data-kind^='job-'])")).isEmpty();
        browser.one("#topic option[value=evenness]").click();
        browser.await(
                "none of evenness", SOON, () -> browser.text("#events + p").startsWith("None among the last "));
    }

    @Test
    void whichRankHoldsFarMoreThanTheOthersIsDrawn() throws IOException {
        try (TestProcess node = up();
                TestProcess light = rank(0, ODD_JOB, 8);
                Browser browser = Browser.start(1280, 1000)) {
            browser.open(api().base() + "/");
            browser.await("it is said that one of two is known", SOON, () -> browser.text("#evenness .verdict")
                    .equals("Unknown: 1 of 2 ranks is known."));
            assertThat(browser.text("#evenness figcaption")).endsWith(": unknown");
            try (TestProcess heavy = rank(1, ODD_JOB, 32)) {
                browser.await("it is uneven", SOON, () -> browser.text("#evenness .verdict")
                        .startsWith("Uneven: rank 1 holds the most in "));
                assertThat(browser.text("#evenness .who .name")).isEqualTo(ODD_JOB);
                assertThat(browser.text("#evenness-note")).startsWith("1 of 1 job uneven");
                assertThat(browser.text("#glance [data-key=uneven] .value")).isEqualTo("1");
                assertThat(browser.text("#evenness figcaption")).matches("[a-z]+ \\d+ %");
                for (String line : List.of("peaks", "largest", "limits", "median")) {
                    assertThat(browser.script(
                                    "return document.querySelector('#evenness .bars .' + arguments[0])"
                                            + ".getBoundingClientRect().width > 0",
                                    line))
                            .as(line)
                            .isEqualTo(true);
                }
                assertThat(browser.one("#evenness svg").getAccessibleName()).contains("peaks of 2 of 2 ranks");
                browser.await("so is the event", SOON, () -> browser.text("#events [data-kind=uneven] .text")
                        .startsWith(ODD_JOB + " is uneven"));
                browser.one("#evenness .told button").click();
                browser.await("the device of the fullest is open", SOON, () -> browser.text("#detail-title")
                        .startsWith("GPU 1 of"));
                assertStaysText(browser);
                assertThat(heavy.isAlive()).isTrue();
            }
            browser.assertNoComplaint();
            assertThat(light.isAlive()).isTrue();
            assertThat(node.isAlive()).isTrue();
        }
    }
}
