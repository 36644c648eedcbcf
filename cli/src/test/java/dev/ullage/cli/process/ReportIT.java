package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ullage.cli.page.Browser;
import dev.ullage.common.testing.Requires;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The report on a job of real torch ranks: while it runs, after its end, and after the node's. */
class ReportIT {
    private static final Duration WITHIN = Duration.ofMinutes(2);
    private static final Duration END_WITHIN = Duration.ofSeconds(30);
    private static final JsonMapper JSON = new JsonMapper();
    private static final String JOB = "nightly/7b";
    private static final int STEPS = 60;

    /** Learns a line on the CPU; says its loss, samples and operations, and counts its bytes on a simulated device. */
    private static final String SCRIPT =
            """
            import os, sys, time, torch, ullage
            MIB = 1 << 20
            allocator = ullage.LimitedAllocator()
            rank = ullage.connect(applier=allocator, require=True)
            rank.wait_for_limit(30)
            torch.manual_seed(rank.info.rank)
            model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
            allocator.reserve(4000 * MIB)
            for step in range(%d):
                batch = torch.randn(32, 8)
                rank.enter_phase("forward")
                allocator.reserve(2000 * MIB)
                loss = ((model(batch) - batch.sum(1, keepdim=True)) ** 2).mean()
                rank.enter_phase("backward")
                allocator.reserve(2000 * MIB)
                optimizer.zero_grad()
                loss.backward()
                allocator.release(4000 * MIB)
                rank.enter_phase("optimizer")
                optimizer.step()
                rank.report(loss=loss.item(), samples=32, flops=6 * 161 * 32 * 1e6)
                rank.step_done()
                rank.enter_phase("idle")
                time.sleep(0.1)
            rank.close()
            """
                    .formatted(STEPS);

    @TempDir
    private Path folder;

    private TestProcess up(int port) throws IOException {
        Path settings = folder.resolve("report.conf");
        Files.writeString(
                settings,
                """
                ullage {
                  node.state-dir = "%s"
                  cluster.port = 0
                  http.port = %d
                  http.report { device-hour-price = 3.60, currency = EUR }
                  worker.devices.simulate = "2xH100-80G"
                }
                """
                        .formatted(folder.resolve("state"), port));
        TestProcess node = TestProcess.start(
                folder, "up", List.of(Distribution.ullage(), "up", "--config", settings.toString()), Map.of());
        node.awaitOutput("is ready", UpNode.READY_WITHIN);
        return node;
    }

    private TestProcess rank(int number) {
        return TestProcess.start(
                folder,
                "rank-" + number,
                List.of(Distribution.PYTHON, "-c", SCRIPT),
                Map.of(
                        "ULLAGE_SOCKET", folder.resolve("state/ranks.sock").toString(),
                        "PYTHONPATH", Distribution.pythonPath(),
                        "OMP_NUM_THREADS", "1",
                        "ULLAGE_JOB", JOB,
                        "RANK", Integer.toString(number),
                        "WORLD_SIZE", "2",
                        "LOCAL_RANK", Integer.toString(number)));
    }

    private record Shown(int code, String text) {}

    private Shown ullage(int port, String... arguments) {
        List<String> command = UpNode.concat(
                UpNode.concat(List.of(Distribution.ullage(), "report", JOB), List.of(arguments)),
                List.of("--server", "http://127.0.0.1:" + port));
        try (TestProcess shown = TestProcess.start(folder, "report", command, Map.of())) {
            int code = shown.awaitExit(END_WITHIN);
            return new Shown(code, shown.log());
        }
    }

    private Optional<JsonNode> report(int port) throws IOException {
        Shown shown = ullage(port, "--json");
        return shown.code() == 0 ? Optional.of(JSON.readTree(shown.text())) : Optional.empty();
    }

    private JsonNode await(int port, String what, Predicate<JsonNode> holds) throws IOException {
        long deadline = System.nanoTime() + WITHIN.toNanos();
        Optional<JsonNode> last = Optional.empty();
        while (System.nanoTime() < deadline) {
            last = report(port);
            if (last.filter(holds).isPresent()) {
                return last.get();
            }
            LockSupport.parkNanos(Duration.ofMillis(200).toNanos());
        }
        throw new AssertionError("not within " + WITHIN + ": " + what + "; the last report: " + last);
    }

    private static JsonNode at(JsonNode report, String pointer) {
        JsonNode value = report.at(pointer);
        assertThat(value.isMissingNode()).as(pointer).isFalse();
        return value;
    }

    @Test
    void aJobIsReportedWhileItRunsAndAfterItsEndAndTheNodes() throws IOException {
        Requires.python("torch", Distribution.PYTHON, "python3-torch");
        int port = Ports.free();
        JsonNode ended;
        try (TestProcess node = up(port);
                Browser browser = Browser.start(1280, 1400)) {
            try (TestProcess first = rank(0);
                    TestProcess second = rank(1)) {
                JsonNode running = await(
                        port,
                        "both ranks have said what they do",
                        report -> report.path("processes").size() == 2
                                && report.at("/compute/samples").asLong() > 0
                                && report.at("/business/loss").size() >= 2
                                && report.at("/memory/utilisation").isNumber());
                assertThat(at(running, "/running").asBoolean()).isTrue();
                assertThat(at(running, "/worldSize").asInt()).isEqualTo(2);
                browser.open("http://127.0.0.1:" + port + "/report/nightly%2F7b");
                browser.await(
                        "the page shows the running job",
                        WITHIN,
                        () -> browser.text("#state").equals("running")
                                && browser.all("#processes tbody tr").size() == 2
                                && !browser.all("#loss canvas").isEmpty());
                assertThat(browser.text("#job")).isEqualTo(JOB);
                assertThat(List.of(first.awaitExit(WITHIN), second.awaitExit(WITHIN)))
                        .containsOnly(0);
            }
            ended = await(
                    port, "the job has ended", report -> !report.path("running").asBoolean());
            assertEnded(ended);
            browser.await("the page shows that it has ended", WITHIN, () -> browser.text("#state")
                    .equals("ended"));
            browser.assertNoComplaint();
            browser.screenshot(Path.of("target/pages/report.png"));
            assertText(ullage(port, "--html", folder.resolve("report.html").toString()));
            browser.open(folder.resolve("report.html").toUri().toString());
            assertThat(browser.text("#state")).isEqualTo("ended");
            assertThat(browser.text("#compute [data-key=steps] dd")).isEqualTo(Integer.toString(STEPS));
            assertThat(browser.all("#loss canvas")).hasSize(1);
            browser.assertNoComplaint();
            assertThat(node.isAlive()).isTrue();
        }
        // All that was in memory is gone, the coordinator's too: the worker has the accounts on its disk.
        try (TestProcess node = up(port)) {
            JsonNode again = await(
                    port,
                    "the accounts of before",
                    report -> report.path("processes").size() == 2);
            for (String part : List.of("memory", "compute")) {
                ((com.fasterxml.jackson.databind.node.ObjectNode) again.path("memory")).remove("phases");
                ((com.fasterxml.jackson.databind.node.ObjectNode) ended.path("memory")).remove("phases");
                assertThat(again.path(part)).as(part).isEqualTo(ended.path(part));
            }
            assertThat(again.at("/business/loss")).isEqualTo(ended.at("/business/loss"));
            assertThat(again.at("/business/cost/job")).isEqualTo(ended.at("/business/cost/job"));
            assertThat(node.isAlive()).isTrue();
        }
    }

    private static void assertEnded(JsonNode report) {
        assertThat(at(report, "/compute/steps").asLong()).isEqualTo(STEPS);
        assertThat(at(report, "/compute/samples").asLong()).isEqualTo(2L * STEPS * 32);
        assertThat(at(report, "/compute/stepsPerSecond").asDouble()).isBetween(.5, 11.0);
        assertThat(at(report, "/compute/waitShare").asDouble()).isBetween(0.0, 1.0);
        assertThat(at(report, "/compute/flopsPerByte").asDouble())
                .isBetween(3.6, 3.8); // 6 x 161 x 32 million by 8,000 MiB
        assertThat(at(report, "/compute/phases"))
                .anySatisfy(phase -> assertThat(phase.path("phase").asText()).isEqualTo("BACKWARD"));
        JsonNode loss = at(report, "/business/loss");
        assertThat(loss.get(loss.size() - 1).path("loss").asDouble())
                .as("it learns")
                .isLessThan(loss.get(0).path("loss").asDouble() / 2);
        assertThat(loss.get(loss.size() - 1).path("step").asLong()).isEqualTo(STEPS);
        assertThat(at(report, "/memory/utilisation").asDouble()).isBetween(.01, .3);
        assertThat(at(report, "/memory/phases")).anySatisfy(phase -> {
            assertThat(phase.path("phase").asText()).isEqualTo("BACKWARD");
            assertThat(phase.path("peakBytes").asLong()).isEqualTo(8_000L << 20);
            assertThat(phase.path("limitBytes").asLong()).isEqualTo(64L << 30);
            assertThat(phase.path("plannedBytes").asLong()).isEqualTo(64L << 30);
        });
        double job = at(report, "/business/cost/job").asDouble();
        assertThat(job).as("two devices, each for less than two minutes").isBetween(1e-4, .3);
        assertThat(at(report, "/business/cost/neverUsed").asDouble()).isBetween(job / 2, job);
        assertThat(at(report, "/memory/allocationMicros").asDouble()).isPositive();
    }

    private static void assertText(Shown shown) {
        assertThat(shown.code()).as(shown.text()).isZero();
        assertThat(shown.text())
                .contains("job " + JOB + ": ended")
                .contains(" EUR by its share of the memory")
                .contains("fragmentation              unknown, at its highest unknown");
    }
}
