package dev.ullage.coordinator.http;

import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.coordinator.metrics.MetricsPage;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;

/**
 * One question to the coordinator for all who scrape at about the same time, so that any number of them costs it the
 * same. Whoever asks while an answer is on its way, or soon after one came, gets that one.
 */
final class Scrapes {
    static final Duration KEEP_FOR = Duration.ofMillis(250);

    private final Supplier<CompletionStage<Optional<ClusterStatus>>> coordinator;
    private final MetricsPage page;
    private final Clock clock;
    private @Nullable CompletableFuture<Scrape> newest;

    private record Scrape(ByteString text, Instant at) {}

    /** @param coordinator asks it; empty when it does not answer, and never fails */
    Scrapes(Supplier<CompletionStage<Optional<ClusterStatus>>> coordinator, MetricsPage page, Clock clock) {
        this.coordinator = coordinator;
        this.page = page;
        this.clock = clock;
    }

    /** The page, not older than {@link #KEEP_FOR}. */
    synchronized CompletionStage<ByteString> latest() {
        CompletableFuture<Scrape> known = newest;
        if (known == null || isOver(known)) {
            known = scrape();
            newest = known;
        }
        return known.thenApply(Scrape::text);
    }

    private CompletableFuture<Scrape> scrape() {
        Instant start = clock.instant();
        return coordinator
                .get()
                .thenApply(answer -> {
                    byte[] text = answer.map(status -> page.render(status, Duration.between(start, clock.instant())))
                            .orElseGet(page::renderNobody);
                    return new Scrape(ByteString.fromArrayUnsafe(text), clock.instant());
                })
                .toCompletableFuture();
    }

    /** A clock that was set back makes an answer old, not eternal. */
    private boolean isOver(CompletableFuture<Scrape> scrape) {
        if (!scrape.isDone()) {
            return false;
        }
        if (scrape.isCompletedExceptionally()) {
            return true;
        }
        Duration age = Duration.between(scrape.join().at(), clock.instant());
        return age.isNegative() || age.compareTo(KEEP_FOR) >= 0;
    }
}
