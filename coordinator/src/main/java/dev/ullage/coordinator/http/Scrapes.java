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

/**
 * One page for all who scrape at about the same time, so that any number of them costs the coordinator and this node
 * the same. A page serves for a while; while the next one is made, those who can do with it get the one before at once.
 *
 * <pre>
 *   age of the newest page:  KEEP_FOR  --> made anew, once; the one before is given out meanwhile
 *                            SERVE_FOR --> given out no longer: whoever asks waits for the new one
 * </pre>
 */
final class Scrapes {
    static final Duration KEEP_FOR = Duration.ofMillis(250);
    static final Duration SERVE_FOR = Duration.ofMillis(750);

    private final Supplier<CompletionStage<Optional<ClusterStatus>>> coordinator;
    private final MetricsPage page;
    private final Clock clock;
    private Optional<Scrape> newest = Optional.empty();
    private Optional<CompletableFuture<Scrape>> coming = Optional.empty();

    private record Scrape(ByteString text, Instant at) {}

    /** @param coordinator asks it; empty when it does not answer, and never fails */
    Scrapes(Supplier<CompletionStage<Optional<ClusterStatus>>> coordinator, MetricsPage page, Clock clock) {
        this.coordinator = coordinator;
        this.page = page;
        this.clock = clock;
    }

    /** The page, not older than {@link #SERVE_FOR}. */
    CompletionStage<ByteString> latest() {
        return current().thenApply(Scrape::text);
    }

    private synchronized CompletableFuture<Scrape> current() {
        coming.filter(CompletableFuture::isDone).ifPresent(this::take);
        if (coming.isEmpty() && !isWithin(KEEP_FOR)) {
            coming = Optional.of(scrape());
        }
        return newest.filter(scrape -> isWithin(SERVE_FOR))
                .map(CompletableFuture::completedFuture)
                .or(() -> coming)
                .orElseThrow();
    }

    /** One that failed is lost for those who waited for it, and for nobody else. */
    private void take(CompletableFuture<Scrape> done) {
        coming = Optional.empty();
        if (!done.isCompletedExceptionally()) {
            newest = Optional.of(done.join());
        }
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

    /** A clock that was set back makes a page old, not eternal. */
    private boolean isWithin(Duration most) {
        return newest.map(scrape -> Duration.between(scrape.at(), clock.instant()))
                .filter(age -> !age.isNegative() && age.compareTo(most) < 0)
                .isPresent();
    }
}
