package dev.ullage.coordinator.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.testing.TestClock;
import dev.ullage.coordinator.metrics.MetricsPage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.util.ByteString;
import org.junit.jupiter.api.Test;

class ScrapesTest {
    private final TestClock clock = new TestClock();
    private final List<CompletableFuture<Optional<ClusterStatus>>> questions = new ArrayList<>();
    private final Scrapes scrapes = new Scrapes(this::ask, new MetricsPage(false), clock);

    private CompletionStage<Optional<ClusterStatus>> ask() {
        CompletableFuture<Optional<ClusterStatus>> question = new CompletableFuture<>();
        questions.add(question);
        return question;
    }

    @Test
    void allWhoScrapeWhileAnAnswerIsOnItsWayGetThatOne() {
        CompletionStage<ByteString> first = scrapes.latest();
        CompletionStage<ByteString> second = scrapes.latest();
        questions.get(0).complete(Optional.of(Statuses.active()));

        assertThat(questions).hasSize(1);
        assertThat(text(second)).isSameAs(text(first));
    }

    @Test
    void anAnswerServesForAQuarterOfASecond() {
        scrapes.latest();
        questions.get(0).complete(Optional.of(Statuses.active()));
        clock.advance(Scrapes.KEEP_FOR.minusMillis(1));
        scrapes.latest();
        assertThat(questions).hasSize(1);

        clock.advance(Duration.ofMillis(1));
        scrapes.latest();
        assertThat(questions).hasSize(2);
    }

    @Test
    void aClockThatWasSetBackDoesNotMakeAnAnswerEternal() {
        scrapes.latest();
        questions.get(0).complete(Optional.of(Statuses.active()));
        clock.advance(Duration.ofHours(-1));
        scrapes.latest();

        assertThat(questions).hasSize(2);
    }

    @Test
    void theTimeTheCoordinatorTookIsOnThePage() {
        CompletionStage<ByteString> page = scrapes.latest();
        clock.advance(Duration.ofMillis(1500));
        questions.get(0).complete(Optional.of(Statuses.active()));

        assertThat(text(page).utf8String()).contains("\nullage_scrape_seconds 1.5\n");
    }

    @Test
    void nobodyIsAskedAgainSoonToo() {
        CompletionStage<ByteString> page = scrapes.latest();
        questions.get(0).complete(Optional.empty());
        scrapes.latest();

        assertThat(questions).hasSize(1);
        assertThat(text(page).utf8String()).contains("\nullage_coordinator_up 0.0\n");
    }

    private static ByteString text(CompletionStage<ByteString> page) {
        return page.toCompletableFuture().join();
    }
}
