package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.page.Browser;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;

/** The live page of a real node with real ranks, in a real browser. */
class PageIT {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Duration SHOWN_WITHIN = Duration.ofSeconds(2);
    private static final long GIB = 1L << 30;
    private static final String DEVICES = "2xH100-80G";
    private static final String ODD_JOB = "<script>document.title='owned'</script><img src=x onerror=alert(1)>";

    @TempDir
    private Path folder;

    private TestProcess rank(UpNode node, String job, int device) {
        return node.launch(
                "rank-" + device,
                List.of(
                        Distribution.PYTHON,
                        "-m",
                        "ullage.demo.trainer",
                        "--model",
                        "plain",
                        "--pace",
                        "0.02",
                        "--seconds",
                        "300"),
                Map.of("ULLAGE_JOB", job, "RANK", "0", "WORLD_SIZE", "1", "LOCAL_RANK", Integer.toString(device)));
    }

    private static void set(UpNode node, String path, String body) throws IOException, InterruptedException {
        String token =
                Files.readString(node.stateDir().resolve("operator.token")).strip();
        HttpResponse<String> response = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create(node.api().base() + path))
                                .header("Authorization", "Bearer " + token)
                                .header("Content-Type", "application/json")
                                .POST(HttpRequest.BodyPublishers.ofString(body))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    }

    private static boolean isLive(Browser browser) {
        return browser.text("#link").equals("live");
    }

    private static boolean hasCeiling(JsonNode status, long gibibytes) {
        return Api.areSettled(status, 1)
                && Api.ranks(status).get(0).path("ceilingBytes").asLong() == gibibytes * GIB;
    }

    @Test
    void aChangedLimitShowsAndTheCoordinatorMayGoAndComeBack() throws Exception {
        try (UpNode node = UpNode.start(folder, DEVICES);
                TestProcess rank = rank(node, "plain-job", 0);
                Browser browser = Browser.start(1280, 900)) {
            node.api().await("the rank settles", SOON, now -> hasCeiling(now, 64));
            browser.open(node.api().base() + "/");
            browser.await("the page is live", SOON, () -> isLive(browser));
            browser.await(
                    "both devices are there",
                    SOON,
                    () -> browser.all("#map .tile").size() == 2);
            assertThat(browser.text("#glance [data-key=capacity] .value")).isEqualTo("160.0 GiB");
            assertThat(browser.text("#glance [data-key=promised] .value")).isEqualTo("64.0 GiB");

            browser.one("#map .tile").click();
            browser.await("the rank's limit is shown", SOON, () -> browser.text("#detail .rank .bar")
                    .contains("limit 64.0 GiB"));
            set(node, "/api/v1/share", "{\"job\":\"plain-job\",\"share\":\"25%\"}");
            node.api().await("a quarter is confirmed", SOON, now -> hasCeiling(now, 16));
            browser.await("the new limit is shown", SHOWN_WITHIN, () -> browser.text("#detail .rank .bar")
                    .contains("limit 16.0 GiB"));
            browser.await("so is the event", SHOWN_WITHIN, () -> browser.text("#events [data-kind=limit-changed] .text")
                    .contains("64.0 GiB -> 16.0 GiB"));
            assertThat(browser.text("#events")).contains("operator-write");
            assertShowsWhatOperatorsSet(node, browser);
            assertBeginsFilledAfterAReload(browser);
            browser.assertNoComplaint();

            node.process().kill();
            browser.await(
                    "the page says that it is stale",
                    SOON,
                    () -> browser.text("#link").startsWith("stale")
                            && browser.text("#notice").startsWith("What you see is "));
            assertThat(browser.text("#detail .rank .bar")).as("still there").contains("limit 16.0 GiB");
            node.restart(DEVICES);
            browser.await("the page is live again", SOON, () -> isLive(browser));
            browser.await("it says that the events begin anew", SOON, () -> browser.text("#events-note")
                    .startsWith("Earlier events are not known"));
            assertThat(rank.isAlive()).isTrue();
        }
    }

    private static void assertShowsWhatOperatorsSet(UpNode node, Browser browser)
            throws IOException, InterruptedException {
        String name = node.api().status().orElseThrow().at("/nodes/0/node").asText();
        set(node, "/api/v1/drain", "{\"node\":\"" + name + "\",\"reason\":\"<b>fan</b>\"}");
        set(node, "/api/v1/priority", "{\"job\":\"plain-job\",\"priority\":\"high\"}");
        set(node, "/api/v1/limit", "{\"job\":\"plain-job\",\"rank\":0,\"limit\":\"20GiB\"}");
        browser.await("the node is shown as draining", SHOWN_WITHIN, () -> browser.text("#map [data-draining]")
                .contains(name + ", draining"));
        browser.await("so is its device", SHOWN_WITHIN, () -> browser.text("#detail .facts")
                .contains("draining: nothing new is placed there"));
        browser.await("the set limit is shown", SHOWN_WITHIN, () -> browser.text("#detail .rank")
                .contains("limit set to 20.0 GiB"));
        browser.one("#detail .rank .name").click();
        browser.await("the job says what was set", SHOWN_WITHIN, () -> browser.text("#detail [data-key=policy]")
                .startsWith("Policy rank-share, priority high. An operator set priority, a share of 25"));
        set(node, "/api/v1/limit", "{\"job\":\"plain-job\",\"rank\":0,\"limit\":null}");
        browser.one("#map .tile").click();
        browser.await("the policy's limit is back", SOON, () -> browser.text("#detail .rank .bar")
                .contains("limit 16.0 GiB"));
    }

    // Goal: who reloads the page sees where things come from. Method: more points than seconds since the reload.
    private static void assertBeginsFilledAfterAReload(Browser browser) {
        browser.await("there is a past", SOON, () -> points(browser) > 8);
        browser.script("location.reload()");
        browser.await("the page is live", SOON, () -> isLive(browser));
        browser.await("the chart begins filled", Duration.ofSeconds(5), () -> points(browser) > 8);
        browser.await("the rank is there again", SOON, () -> browser.text("#detail .rank .bar")
                .contains("limit 16.0 GiB"));
    }

    private static long points(Browser browser) {
        Object points = browser.script("return Number(document.querySelector('#detail .chart')?.dataset.points ?? 0)");
        return ((Number) points).longValue();
    }

    @Test
    void namesStayTextAndKeysAndPhonesWork() {
        try (UpNode node = UpNode.start(folder, DEVICES);
                TestProcess rank = rank(node, ODD_JOB, 1);
                Browser browser = Browser.start(1280, 900)) {
            node.api().await("the rank settles", SOON, now -> Api.areSettled(now, 1));
            browser.open(node.api().base() + "/");
            browser.await(
                    "the job is listed", SOON, () -> browser.text("#jobs .name").equals(ODD_JOB));

            browser.script("document.querySelector('#map .tile[tabindex=\"0\"]').focus()");
            browser.press(Keys.ARROW_RIGHT);
            browser.press(Keys.ENTER);
            browser.await("its device is open", SOON, () -> browser.text("#detail-title")
                    .startsWith("GPU 1 of"));
            browser.await("with its rank", SOON, () -> browser.text("#detail .rank .name")
                    .equals("rank 0 of " + ODD_JOB));
            browser.await(
                    "and a chart",
                    SOON,
                    () -> browser.all("#detail .rank canvas").size() == 1);
            browser.one("#detail .rank .name").click();
            browser.await(
                    "its job is open", SOON, () -> browser.text("#detail-title").equals("Job " + ODD_JOB));
            assertThat(browser.title()).isEqualTo("Ullage");
            assertThat(browser.all("script")).as("the page's own").hasSize(1);
            assertThat(browser.all("img[src=x]")).isEmpty();

            browser.press(Keys.ESCAPE);
            browser.await("it is closed", SOON, () -> !browser.one("#detail").isDisplayed());
            browser.resize(390, 844);
            assertThat((Boolean) browser.script(
                            "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"))
                    .as("nothing is wider than a phone")
                    .isTrue();
            browser.assertNoComplaint();
            assertThat(rank.isAlive()).isTrue();
        }
    }
}
