package dev.ullage.coordinator.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.testing.TestClock;
import dev.ullage.coordinator.journal.DecisionCounts;
import dev.ullage.coordinator.metrics.MetricsPage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.pekko.util.ByteString;
import org.junit.jupiter.api.Test;

class ScrapesTest {
    private final TestClock clock = new TestClock();
    private final List<CompletableFuture<Optional<ClusterStatus>>> questions =
            Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger rendered = new AtomicInteger();
    private final Scrapes scrapes = new Scrapes(this::ask, new MetricsPage(false, this::counts), clock);

    /** Asked once for each page. */
    private DecisionCounts counts() {
        rendered.incrementAndGet();
        return DecisionCounts.NONE;
    }

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
    void whileThePageIsMadeAnewTheOneBeforeServesForAWhileAndNoLonger() {
        scrapes.latest();
        questions.get(0).complete(Optional.of(Statuses.active()));
        clock.advance(Scrapes.SERVE_FOR.minusMillis(1));

        CompletionStage<ByteString> before = scrapes.latest();
        CompletionStage<ByteString> again = scrapes.latest();
        assertThat(questions).hasSize(2);
        assertThat(text(again)).isSameAs(text(before));

        clock.advance(Duration.ofMillis(1));
        CompletionStage<ByteString> waits = scrapes.latest();
        assertThat(questions).hasSize(2);
        assertThat(waits.toCompletableFuture()).isNotDone();
        questions.get(1).complete(Optional.of(Statuses.active()));
        assertThat(text(scrapes.latest())).isSameAs(text(waits)).isNotSameAs(text(before));
    }

    /** Case G04: what a scrape costs does not grow with the scrapers. */
    @Test
    void twentyWhoScrapeAtTheSameTimeCostOneQuestionAndOnePage() throws Exception {
        ExecutorService scrapers = Executors.newFixedThreadPool(20);
        try {
            List<Future<CompletionStage<ByteString>>> all = scrapers.invokeAll(
                    Collections.nCopies(20, (Callable<CompletionStage<ByteString>>) scrapes::latest));
            assertThat(questions).hasSize(1);
            questions.get(0).complete(Optional.of(Statuses.active()));

            ByteString page = text(all.get(0).get());
            for (Future<CompletionStage<ByteString>> one : all) {
                assertThat(text(one.get())).isSameAs(page);
            }
            assertThat(rendered).hasValue(1);
        } finally {
            scrapers.shutdown();
        }
    }

    @Test
    void afterAPageThatFailedTheNextOneIsMade() {
        CompletionStage<ByteString> failed = scrapes.latest();
        questions.get(0).completeExceptionally(new IllegalStateException("for this test"));
        assertThat(failed.toCompletableFuture()).isCompletedExceptionally();

        CompletionStage<ByteString> next = scrapes.latest();
        questions.get(1).complete(Optional.of(Statuses.active()));
        assertThat(text(next).utf8String()).contains("\nullage_coordinator_up 1.0\n");
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
