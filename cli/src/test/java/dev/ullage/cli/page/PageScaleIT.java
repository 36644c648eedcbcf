package dev.ullage.cli.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.NodeId;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.EventsQuery;
import dev.ullage.common.protocol.ToCoordinator.HistoryQuery;
import dev.ullage.common.protocol.ToCoordinator.RequestsQuery;
import dev.ullage.common.protocol.ToCoordinator.StatusQuery;
import dev.ullage.common.protocol.ToOperator.History;
import dev.ullage.config.HttpSettings;
import dev.ullage.coordinator.http.HttpApi;
import dev.ullage.coordinator.http.OperatorToken;
import dev.ullage.coordinator.metrics.MetricsPage;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;

/** The page with 1,000 devices, of which most change twice a second, and with 1,000 jobs that wait for room. */
class PageScaleIT {
    private static final int DEVICES = 1_000;
    private static final int WAITING = 1_000;
    private static final int FRAMES = 40;
    private static final Duration WITHIN = Duration.ofMinutes(1);

    private final ActorTestKit kit = ActorTestKit.create();
    private final AtomicInteger moment = new AtomicInteger();

    @AfterEach
    void stop() {
        kit.shutdownTestKit();
    }

    private String serve(Path folder) throws Exception {
        ActorRef<ToCoordinator> coordinator = kit.spawn(Behaviors.receiveMessage(message -> {
            if (message instanceof StatusQuery query) {
                query.replyTo().tell(BigCluster.of(DEVICES, moment.incrementAndGet(), WAITING));
            } else if (message instanceof RequestsQuery query) {
                // An older coordinator knows of no bound.
                query.replyTo()
                        .tell(query.job().map(job -> BigQueue.of(WAITING, job)).orElseGet(() -> BigQueue.of(WAITING)));
            } else if (message instanceof EventsQuery query) {
                query.replyTo().tell(BigCluster.events(query.after(), Instant.now()));
            } else if (message instanceof HistoryQuery query) {
                query.replyTo().tell(History.page(List.of(), query.offset(), query.limit()));
            }
            return Behaviors.same();
        }));
        int port = HttpApi.start(
                        kit.system(),
                        new HttpSettings("127.0.0.1", 0, false),
                        coordinator,
                        new NodeId("gpu-000"),
                        OperatorToken.loadOrCreate(folder),
                        new MetricsPage(false))
                .toCompletableFuture()
                .get(10, TimeUnit.SECONDS)
                .localAddress()
                .getPort();
        return "http://127.0.0.1:" + port + "/";
    }

    // Goal: under 100 ms a frame with 1,000 devices and a device open. Method: the page's own measure of each drawing,
    // and the gaps between the browser's frames, which have layout and painting in them. The median is what is held to
    // the bound: single frames also wait for whatever else this machine does.
    @Test
    void aThousandDevicesAreDrawnInTime(@TempDir Path folder) throws Exception {
        String url = serve(folder);
        try (Browser browser = Browser.start(1440, 1100)) {
            browser.open(url);
            browser.await(
                    "every device has a tile",
                    WITHIN,
                    () -> browser.all("#map .tile").size() == DEVICES);
            assertThat(browser.all("#queue tbody tr"))
                    .as("the first 50, and three beside them")
                    .hasSize(53);
            assertThat(browser.text("#queue-note"))
                    .isEqualTo("1,000 wait, 1 is being placed, 1 is to end and wait again, 1 runs without its room,"
                            + " 1 job has its room.");
            assertThat(browser.text("#queue-body > p")).isEqualTo("and 950 more: \"ullage jobs\" lists all");
            browser.one("#map .tile").click();
            browser.await("a device is open", WITHIN, () -> browser.text("#detail-title")
                    .startsWith("GPU 0"));
            browser.script("performance.clearMeasures('ullage-frame'); window.gaps = []; let last = performance.now();"
                    + "const note = (now) => { window.gaps.push(now - last); last = now; requestAnimationFrame(note); };"
                    + "requestAnimationFrame(note);");
            browser.await(FRAMES + " drawings", WITHIN, () -> count(browser) >= FRAMES);

            double drawing = number(browser, "performance.getEntriesByName('ullage-frame').map((e) => e.duration)", 50);
            double worst = number(browser, "performance.getEntriesByName('ullage-frame').map((e) => e.duration)", 100);
            double gap = number(browser, "window.gaps", 99);
            System.out.printf(
                    "%d devices: a drawing takes %.1f ms (median), %.1f ms (worst); 99 %% of the browser's frames come"
                            + " within %.1f ms%n",
                    DEVICES, drawing, worst, gap);
            assertThat(drawing).isLessThan(100);
            browser.assertNoComplaint();
            screenshots(browser);
        }
    }

    @Test
    void whoWaitsFarBehindIsAskedForAndNothingIsWiderThanAPhone(@TempDir Path folder) throws Exception {
        String url = serve(folder);
        try (Browser browser = Browser.start(390, 844)) {
            browser.open(url + "#job=train-w700");
            browser.await("the request is there", WITHIN, () -> browser.text("#detail [data-key=request]")
                    .contains("waiting, position 700"));
            assertThat(browser.text("#detail [data-key=request]")).contains("699 jobs stand before it");
            assertThat(browser.text("#detail .commands")).contains("ullage requeue train-w700");
            assertFitsAPhone(browser);
            browser.press(Keys.ESCAPE);
            browser.await(
                    "the job is closed", WITHIN, () -> !browser.one("#detail").isDisplayed());
            assertFitsAPhone(browser);
            assertThat(browser.text("#queue tbody tr:nth-child(7) .name")).isEqualTo(BigQueue.ODD_JOB);
            assertThat(browser.title()).isEqualTo("Ullage");
            browser.assertNoComplaint();
        }
    }

    // Goal: a table stays one, and what is scrolled can be reached, without a mouse. Method: what the browser tells
    // those who cannot see it, and the Tab key.
    @Test
    void theQueueIsATableForThoseWhoCannotSeeItAndKeysReachIt(@TempDir Path folder) throws Exception {
        String url = serve(folder);
        try (Browser browser = Browser.start(390, 844)) {
            browser.open(url);
            browser.await(
                    "the queue is there",
                    WITHIN,
                    () -> browser.all("#queue tbody tr").size() == 53);
            for (int width : new int[] {390, 1280}) {
                browser.resize(width, 900);
                assertThat(browser.one("#queue table").getAriaRole()).isEqualTo("table");
                assertThat(browser.one("#queue tbody tr").getAriaRole()).isEqualTo("row");
                assertThat(browser.one("#queue tbody td").getAriaRole()).isEqualTo("cell");
                assertThat(browser.one("#queue thead th").getAccessibleName()).isEqualTo("Position");
            }
            browser.script("document.querySelector('#glance [data-key=waiting] button').focus()");
            browser.press(Keys.ENTER);
            browser.await("the section has the focus", WITHIN, () -> browser.script("return document.activeElement.id")
                    .equals("queue"));
            browser.press(Keys.TAB);
            assertThat(browser.script("return document.activeElement.getAttribute('aria-label')"))
                    .isEqualTo("Jobs that wait for room");
            browser.press(Keys.TAB);
            assertThat(browser.script("return document.activeElement.textContent"))
                    .isEqualTo("moe-16");
            browser.press(Keys.ENTER);
            browser.await("its job is open", WITHIN, () -> browser.text("#detail-title")
                    .equals("Job moe-16"));
        }
    }

    @Test
    void namesOfNodesAreShortenedToWhatTellsThemApart(@TempDir Path folder) throws Exception {
        String url = serve(folder);
        try (Browser browser = Browser.start(1280, 900)) {
            browser.open(url);
            assertThat(shortened(browser, "gpu-000", "gpu-124")).isEqualTo("gpu-000 gpu-124");
            assertThat(shortened(browser, "dgx-a100-11.hpc.site", "dgx-a100-12.hpc.site"))
                    .isEqualTo("\u202611 \u202612");
            assertThat(shortened(browser, "rack1-node-001", "rack2-node-001"))
                    .isEqualTo("\u20261-node-001 \u20262-node-001");
            assertThat(shortened(browser, "one-of-a-kind", "another-one.site"))
                    .isEqualTo("one-of-a-kind another-one.site");
            assertThat(shortened(browser, "alone-in-the-cluster")).isEqualTo("alone-in-the-cluster");
        }
    }

    private static Object shortened(Browser browser, Object... names) {
        return browser.script(
                "return import('/page/map.js').then((map) => map.shortNames([...arguments]).join(' '))", names);
    }

    private static void assertFitsAPhone(Browser browser) {
        assertThat(browser.script(
                        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"))
                .isEqualTo(true);
    }

    @Test
    void aJobSaysWhatItWasDirectedToAndWhichOfItsRanksLeaks(@TempDir Path folder) throws Exception {
        String url = serve(folder);
        try (Browser browser = Browser.start(1440, 1100)) {
            browser.open(url + "#job=train-0");
            browser.await("the job is open", WITHIN, () -> browser.text("#detail-title")
                    .equals("Job train-0"));
            browser.await("its move is listed", WITHIN, () -> browser.text("#detail .problems")
                    .startsWith("micro-batch, micro-batch 8 x 4, done, "));
            assertThat(browser.text("#detail .problems")).endsWith("rank 3 ran out of memory in BACKWARD of step 17");
            assertThat(browser.text("#detail .side-by-side")).containsOnlyOnce("leak suspected: 1.5 MiB a step");
            browser.assertNoComplaint();
        }
    }

    /** For the documents: {@code -Dullage.screenshots=docs/images}. */
    private static void screenshots(Browser browser) {
        String folder = System.getProperty("ullage.screenshots");
        if (folder == null) {
            return;
        }
        browser.setDark(true);
        browser.resize(1280, 1360);
        browser.script("scrollTo(0, 0)");
        draw(browser);
        browser.screenshot(Path.of(folder, "page-device.png"));
        browser.press(Keys.ESCAPE);
        browser.await(
                "the device is closed", WITHIN, () -> !browser.one("#detail").isDisplayed());
        browser.setDark(false);
        browser.resize(1280, 1000);
        draw(browser);
        browser.screenshot(Path.of(folder, "page.png"));
        browser.resize(390, 844);
        draw(browser);
        browser.screenshot(Path.of(folder, "page-phone.png"));
        browser.resize(1280, 1370);
        browser.script("document.getElementById('queue').scrollIntoView()");
        draw(browser);
        browser.screenshot(Path.of(folder, "page-queue.png"));
        browser.script("scrollTo(0, 0)");
    }

    private static void draw(Browser browser) {
        long before = count(browser);
        browser.await("it is drawn anew", WITHIN, () -> count(browser) >= before + 3);
    }

    private static long count(Browser browser) {
        return ((Number) browser.script("return performance.getEntriesByName('ullage-frame').length")).longValue();
    }

    private static double number(Browser browser, String list, int percentile) {
        String script = "const all = " + list + ".sort((a, b) => a - b);"
                + "return all[Math.min(all.length - 1, Math.floor(all.length * " + percentile + " / 100))]";
        return ((Number) browser.script(script)).doubleValue();
    }
}
