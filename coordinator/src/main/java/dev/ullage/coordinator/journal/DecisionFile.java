package dev.ullage.coordinator.journal;

import dev.ullage.config.DecisionLogSettings;
import dev.ullage.coordinator.decisions.Decision;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes decisions to {@value #FILE_NAME} in the state folder, on a thread of its own. Whoever hands one over never
 * waits: when {@link #WAITING_AT_MOST} are waiting, or the disk fails, records are dropped, counted, and the next
 * record that can be written says how many are missing before it.
 */
public final class DecisionFile implements DecisionSink, AutoCloseable {
    public static final String FILE_NAME = "decisions.jsonl";

    static final int WAITING_AT_MOST = 2048;

    private static final Logger LOG = LoggerFactory.getLogger(DecisionFile.class);
    private static final long LOOK_AGAIN_MILLIS = 100;
    private static final long CLOSED_WITHIN_MILLIS = 2_000;

    private final Path file;
    private final BlockingQueue<Decision> waiting = new ArrayBlockingQueue<>(WAITING_AT_MOST);
    private final AtomicLong written = new AtomicLong();
    private final AtomicLong dropped = new AtomicLong();
    private final RotatedLines lines;
    private final Thread thread;
    private volatile boolean isClosing;
    /** Of the dropped ones, how many the file says are missing. Of the thread alone. */
    private long saidDropped;

    private boolean isFailing;

    private DecisionFile(Path folder, DecisionLogSettings settings) {
        this.file = folder.resolve(FILE_NAME);
        this.lines = new RotatedLines(file, settings.maxBytes().value(), settings.files());
        this.thread = new Thread(this::run, "ullage-decisions");
        this.thread.setDaemon(true);
    }

    /** Nothing is opened before the first decision: a folder that cannot be written costs records, not the start. */
    public static DecisionFile start(Path folder, DecisionLogSettings settings) {
        DecisionFile started = idle(folder, settings);
        started.begin();
        return started;
    }

    /** Takes decisions and writes none before {@link #begin}. */
    static DecisionFile idle(Path folder, DecisionLogSettings settings) {
        return new DecisionFile(folder, settings);
    }

    void begin() {
        thread.start();
    }

    @Override
    public void accept(Decision decision) {
        if (isClosing || !waiting.offer(decision)) {
            dropped.incrementAndGet();
        }
    }

    public DecisionCounts counts() {
        return new DecisionCounts(written.get(), dropped.get());
    }

    private void run() {
        try {
            while (!isClosing || !waiting.isEmpty()) {
                write(waiting.poll(LOOK_AGAIN_MILLIS, TimeUnit.MILLISECONDS));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            closeFile();
        }
    }

    private void write(@Nullable Decision decision) {
        if (decision == null) {
            return;
        }
        try {
            long missing = dropped.get();
            if (missing > saidDropped) {
                lines.append(bytes(DecisionJson.droppedLine(missing - saidDropped)));
                saidDropped = missing;
            }
            lines.append(bytes(DecisionJson.line(decision)));
            written.incrementAndGet();
            if (isFailing) {
                isFailing = false;
                LOG.info("decision records are written again: file={} dropped={}", file, dropped.get());
            }
        } catch (IOException | RuntimeException e) {
            dropped.incrementAndGet();
            if (!isFailing) {
                isFailing = true;
                LOG.warn("decision records are dropped: file={} reason={}", file, e.toString());
            }
        }
    }

    private static byte[] bytes(String line) {
        return (line + "\n").getBytes(StandardCharsets.UTF_8);
    }

    private void closeFile() {
        try {
            lines.close();
        } catch (IOException e) {
            LOG.warn("file={} reason={}", file, e.toString());
        }
    }

    /** Writes what is waiting, as far as that takes no longer than two seconds. */
    @Override
    public void close() {
        isClosing = true;
        try {
            thread.join(CLOSED_WITHIN_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
