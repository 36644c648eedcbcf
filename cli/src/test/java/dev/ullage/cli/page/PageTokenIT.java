package dev.ullage.cli.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.NodeId;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.EventsQuery;
import dev.ullage.common.protocol.ToCoordinator.StatusQuery;
import dev.ullage.config.HttpAccess;
import dev.ullage.config.HttpSettings;
import dev.ullage.config.StreamSettings;
import dev.ullage.coordinator.http.HttpApi;
import dev.ullage.coordinator.http.OperatorToken;
import dev.ullage.coordinator.metrics.MetricsPage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;

/** The live page of a server that shows nothing without a token, in a real browser. */
class PageTokenIT {
    private static final Duration WITHIN = Duration.ofMinutes(1);
    private static final int DEVICES = 16;

    private final ActorTestKit kit = ActorTestKit.create();

    @AfterEach
    void stop() {
        kit.shutdownTestKit();
    }

    private String serve(Path folder) throws Exception {
        ActorRef<ToCoordinator> coordinator = kit.spawn(Behaviors.receiveMessage(message -> {
            if (message instanceof StatusQuery query) {
                query.replyTo().tell(BigCluster.of(DEVICES, 1));
            } else if (message instanceof EventsQuery query) {
                query.replyTo().tell(BigCluster.events(query.after(), Instant.EPOCH));
            }
            return Behaviors.same();
        }));
        HttpAccess access = new HttpAccess(Optional.empty(), Optional.of(folder.resolve("read.token")));
        int port = HttpApi.start(
                        kit.system(),
                        new HttpSettings("127.0.0.1", 0, false, StreamSettings.defaults(), access),
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

    @Test
    void itAsksForTheTokenAndKeepsItForThisTabOnly(@TempDir Path folder) throws Exception {
        String url = serve(folder);
        String token = Files.readString(folder.resolve("read.token")).strip();
        try (Browser browser = Browser.start(1200, 900)) {
            browser.open(url);
            browser.await("it asks", WITHIN, () -> browser.one("#token-form").isDisplayed());
            assertThat(browser.all("#map .tile")).isEmpty();

            browser.one("#token").sendKeys("wrong", Keys.ENTER);
            browser.await("a wrong one is told", WITHIN, () -> browser.text("#token-why")
                    .contains("neither the read token"));
            browser.one("#token").sendKeys(token, Keys.ENTER);
            browser.await(
                    "every device has a tile",
                    WITHIN,
                    () -> browser.all("#map .tile").size() == DEVICES);
            assertThat(browser.one("#token-form").isDisplayed()).isFalse();

            browser.open(url);
            browser.await(
                    "the tab remembers", WITHIN, () -> browser.all("#map .tile").size() == DEVICES);
            assertThat(browser.script("return document.cookie + localStorage.length + location.href"))
                    .isEqualTo("0" + url);
        }
    }
}
