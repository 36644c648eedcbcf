package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.EventId;
import dev.ullage.common.protocol.ClusterEvent;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.Events;
import dev.ullage.common.protocol.ToOperator.Requests;
import dev.ullage.config.StreamSettings;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.NotUsed;
import org.apache.pekko.stream.BoundedSourceQueue;
import org.apache.pekko.stream.KillSwitches;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.QueueOfferResult;
import org.apache.pekko.stream.UniqueKillSwitch;
import org.apache.pekko.stream.javadsl.Keep;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One question to the coordinator for all who watch at this node, and each message written once for all of them. While
 * nobody watches nothing is asked. A reader that does not keep up has its stream ended; the others and the coordinator
 * never wait for it.
 *
 * <p>Everything is bounded: readers, what waits for each, events kept. All state is behind the lock of this object, but
 * for the asking and the writing of JSON, of which there is at most one at a time.
 */
final class StreamHub {
    /** How many events a new reader is shown at most. */
    static final int EVENTS_KEPT = 1_000;

    /** A comment in between, so that neither side takes a quiet connection for a dead one. */
    private static final Duration KEEP_ALIVE = Duration.ofSeconds(10);

    private static final ByteString COMMENT = ByteString.fromString(":\n\n");
    private static final Logger LOG = LoggerFactory.getLogger(StreamHub.class);

    /** What the coordinator is asked; neither fails: empty when nobody answers. */
    interface Coordinator {
        CompletionStage<Optional<ClusterStatus>> status();

        CompletionStage<Optional<Events>> events(Optional<EventId> after);

        /** The first of the queue; asked only of a coordinator that has one. */
        CompletionStage<Optional<Requests>> queue();
    }

    /**
     * What a reader wants.
     *
     * @param after the newest event it knows
     * @param snapshots whether it wants to see the cluster too, not only events
     */
    record Wish(Optional<EventId> after, boolean snapshots) {}

    private static final class Reader {
        private final Wish wish;
        private final BoundedSourceQueue<ByteString> queue;
        private final UniqueKillSwitch end;
        private boolean isNew = true;
        private boolean hasEvents;

        Reader(Wish wish, BoundedSourceQueue<ByteString> queue, UniqueKillSwitch end) {
            this.wish = wish;
            this.queue = queue;
            this.end = end;
        }
    }

    private record Cluster(Optional<ClusterStatus> status, Optional<Requests> queue) {}

    private record Answers(Cluster cluster, Optional<Events> events) {}

    private final Coordinator coordinator;
    private final StreamSettings settings;
    private final Materializer materializer;
    private final Clock clock;
    private final List<Reader> readers = new ArrayList<>();
    private final Deque<ClusterEvent> events = new ArrayDeque<>();
    private boolean isComplete = true;
    private Snapshots newest = Snapshots.NONE;
    private boolean isAsking;
    private boolean isClosed;

    StreamHub(Coordinator coordinator, StreamSettings settings, Materializer materializer, Clock clock) {
        this.coordinator = coordinator;
        this.settings = settings;
        this.materializer = materializer;
        this.clock = clock;
    }

    /** What a new reader is to be sent, for as long as it reads; empty when there are too many already. */
    Optional<Source<ByteString, NotUsed>> join(Wish wish) {
        synchronized (this) {
            dropTheGone();
            if (isClosed || readers.size() >= settings.maxReaders()) {
                return Optional.empty();
            }
            var source = Source.<ByteString>queue(settings.buffer())
                    .viaMat(KillSwitches.single(), Keep.both())
                    .preMaterialize(materializer);
            readers.add(new Reader(wish, source.first().first(), source.first().second()));
            return Optional.of(source.second().keepAlive(KEEP_ALIVE, () -> COMMENT));
        }
    }

    /** Called at the set rate. Asks only while somebody watches and no answer is outstanding. */
    void tick() {
        Optional<EventId> known;
        synchronized (this) {
            dropTheGone();
            if (isAsking) {
                return;
            }
            // Never while an answer is on its way: it would be taken for all there is, and is only what was lacking.
            if (readers.isEmpty()) {
                forget();
                return;
            }
            isAsking = true;
            known = Optional.ofNullable(events.peekLast()).map(ClusterEvent::id);
        }
        coordinator
                .status()
                .thenCompose(this::withQueue)
                .thenCombine(coordinator.events(known), Answers::new)
                .thenAccept(this::publish)
                .whenComplete((done, failure) -> {
                    if (failure != null) {
                        LOG.error("what the readers of the stream should see could not be written", failure);
                    }
                    synchronized (this) {
                        isAsking = false;
                    }
                });
    }

    /** A coordinator of before there was a queue would leave the question without an answer, and everybody waiting. */
    private CompletionStage<Cluster> withQueue(Optional<ClusterStatus> status) {
        return status.flatMap(ClusterStatus::queue).isEmpty()
                ? CompletableFuture.completedStage(new Cluster(status, Optional.empty()))
                : coordinator.queue().thenApply(queue -> new Cluster(status, queue));
    }

    /** Every stream ends as it should, after what waits for its reader; nobody may join any more. */
    synchronized void close() {
        isClosed = true;
        readers.stream().filter(reader -> !reader.queue.isCompleted()).forEach(reader -> reader.queue.complete());
        readers.clear();
    }

    synchronized boolean isClosed() {
        return isClosed;
    }

    synchronized int readers() {
        dropTheGone();
        return readers.size();
    }

    private void dropTheGone() {
        readers.removeIf(reader -> reader.queue.isCompleted());
    }

    private void forget() {
        newest = Snapshots.NONE;
        events.clear();
        isComplete = true;
    }

    /** Written outside the lock, so that nobody who joins waits for it. */
    private void publish(Answers answers) {
        Instant now = clock.instant();
        Cluster cluster = answers.cluster();
        Optional<Snapshots> next = cluster.status()
                .map(status -> Snapshots.of(StatusJson.of(status, now), QueueJson.of(cluster.queue(), now)));
        Wanted wanted = wanted();
        Optional<ByteString> full = wanted.full()
                ? Optional.of(frame(next.map(Snapshots::full).orElseGet(this::unanswered)))
                : Optional.empty();
        Optional<ByteString> changes = wanted.changes()
                ? Optional.of(
                        frame(next.map(known -> known.since(wanted.before())).orElseGet(this::unanswered)))
                : Optional.empty();
        deliver(answers, next, full, changes);
    }

    private record Wanted(boolean full, boolean changes, Snapshots before) {}

    private synchronized Wanted wanted() {
        return new Wanted(
                readers.stream().anyMatch(reader -> reader.wish.snapshots() && reader.isNew),
                readers.stream().anyMatch(reader -> reader.wish.snapshots() && !reader.isNew),
                newest);
    }

    private synchronized void deliver(
            Answers answers, Optional<Snapshots> next, Optional<ByteString> full, Optional<ByteString> changes) {
        Optional<ByteString> news = answers.events().flatMap(this::remember);
        for (Reader reader : List.copyOf(readers)) {
            if (reader.wish.snapshots()) {
                Optional<ByteString> snapshot = reader.isNew ? full : changes;
                snapshot.ifPresent(frame -> send(reader, frame));
                reader.isNew = reader.isNew && (snapshot.isEmpty() || next.isEmpty());
            }
            if (answers.events().isPresent()) {
                sendEvents(reader, news);
            }
        }
        next.ifPresent(now -> newest = now);
    }

    /** What is new, as a message for those who have had all before it. */
    private Optional<ByteString> remember(Events answer) {
        if (!answer.isComplete()) {
            events.clear();
            isComplete = false;
        }
        answer.events().forEach(event -> {
            if (events.size() == EVENTS_KEPT) {
                events.removeFirst();
                isComplete = false;
            }
            events.addLast(event);
        });
        return answer.events().isEmpty()
                ? Optional.empty()
                : Optional.of(eventsFrame(answer.events(), answer.isComplete()));
    }

    private void sendEvents(Reader reader, Optional<ByteString> news) {
        if (reader.hasEvents) {
            news.ifPresent(frame -> send(reader, frame));
            return;
        }
        reader.hasEvents = true;
        Optional<EventId> known = reader.wish.after();
        boolean isFromHere = known.filter(
                        id -> events.stream().anyMatch(event -> event.id().equals(id)))
                .isPresent();
        List<ClusterEvent> lacking = events.stream()
                .filter(event -> !isFromHere || event.id().compareTo(known.orElseThrow()) > 0)
                .toList();
        send(reader, eventsFrame(lacking, known.isPresent() ? isFromHere : isComplete));
    }

    /** A slow reader's stream ends without what waits for it; it may come back and gets everything anew. */
    private void send(Reader reader, ByteString frame) {
        QueueOfferResult result = reader.queue.offer(frame);
        if (result == QueueOfferResult.dropped()) {
            LOG.warn("reader of the stream dropped: reason={} messages wait for it", settings.buffer());
            reader.end.shutdown();
            readers.remove(reader);
        } else if (result != QueueOfferResult.enqueued()) {
            readers.remove(reader);
        }
    }

    private static ByteString frame(ObjectNode snapshot) {
        return StreamFrame.of("snapshot", Optional.empty(), snapshot);
    }

    private static ByteString eventsFrame(List<ClusterEvent> events, boolean isComplete) {
        Optional<String> newest = events.isEmpty()
                ? Optional.empty()
                : Optional.of(lastOf(events).id().toString());
        return StreamFrame.of("events", newest, EventsJson.message(events, isComplete));
    }

    private static ClusterEvent lastOf(List<ClusterEvent> events) {
        return events.get(events.size() - 1);
    }

    /** Sent instead of a snapshot, so that a reader can tell silence of the coordinator from a broken connection. */
    private ObjectNode unanswered() {
        return JsonNodeFactory.instance
                .objectNode()
                .put("unanswered", true)
                .put("time", clock.instant().truncatedTo(ChronoUnit.MILLIS).toString());
    }
}
