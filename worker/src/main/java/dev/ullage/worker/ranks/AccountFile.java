package dev.ullage.worker.ranks;

import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import dev.ullage.common.model.RankAccount;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What ranks had come to when they ended, one a line, in the worker's state folder: for reports, so nothing is forced
 * to the disk and a line that cannot be read is passed over. A thread of its own writes; what it cannot keep up with is
 * dropped, with a warning. The file is written anew when it has twice the lines that are kept.
 */
final class AccountFile implements AutoCloseable {
    static final int KEPT = 256;
    private static final Logger LOG = LoggerFactory.getLogger(AccountFile.class);
    private static final int MAX_WAITING = 1024;
    private static final long MAX_BYTES = 64L << 20;
    private static final long CLOSE_WITHIN_SECONDS = 5;
    private static final JsonMapper JSON = JsonMapper.builder()
            .addModule(new Jdk8Module())
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
            .visibility(PropertyAccessor.IS_GETTER, Visibility.NONE)
            .build();

    private final Path file;
    private final Clock clock;
    private final ThreadPoolExecutor writer;
    /** Of the writing thread alone, once it runs; the newest last. */
    private final Deque<String> lines = new ArrayDeque<>();

    private int linesInFile;

    /** @param savedAtMillis since 1970; the ages in the account are as of then */
    record Saved(long savedAtMillis, RankAccount account) {}

    AccountFile(Path file, Clock clock) {
        this.file = file;
        this.clock = clock;
        this.writer = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(MAX_WAITING), task -> {
            Thread thread = new Thread(task, "ullage-accounts");
            thread.setDaemon(true);
            return thread;
        });
    }

    /** What the file has, oldest first; called once, before anything is added. */
    List<RankAccount> load() {
        List<RankAccount> accounts = new ArrayList<>();
        try {
            if (!Files.exists(file)) {
                return accounts;
            }
            if (Files.size(file) > MAX_BYTES) {
                LOG.warn(
                        "reason=\"{} is no file of this worker's: it is larger than {} bytes; not read\"",
                        file,
                        MAX_BYTES);
                return accounts;
            }
            List<String> all = Files.readAllLines(file, StandardCharsets.UTF_8);
            linesInFile = all.size();
            for (String line : all.subList(Math.max(0, all.size() - KEPT), all.size())) {
                read(line, accounts);
            }
        } catch (IOException e) {
            LOG.warn("reason=\"reports on earlier jobs are not known: {} cannot be read: {}\"", file, e.toString());
        }
        return accounts;
    }

    private void read(String line, List<RankAccount> into) {
        try {
            Saved saved = JSON.readValue(line, Saved.class);
            long age = Duration.ofMillis(clock.millis() - saved.savedAtMillis()).toMillis();
            into.add(saved.account().later(Math.max(0, age)));
            lines.add(line);
        } catch (IOException e) {
            LOG.warn("reason=\"a line of {} is passed over: {}\"", file, e.getMessage());
        }
    }

    /** A rank has ended; returns at once. */
    void add(RankAccount account) {
        long now = clock.millis();
        try {
            writer.execute(() -> write(new Saved(now, account)));
        } catch (RejectedExecutionException e) {
            LOG.warn(
                    "rank={} reason=\"its account is not kept: {} others wait to be written\"",
                    account.instance(),
                    MAX_WAITING);
        }
    }

    private void write(Saved saved) {
        try {
            String line = JSON.writeValueAsString(saved);
            lines.addLast(line);
            while (lines.size() > KEPT) {
                lines.removeFirst();
            }
            if (linesInFile >= 2 * KEPT) {
                Path next = file.resolveSibling(file.getFileName() + ".new");
                Files.write(next, lines, StandardCharsets.UTF_8);
                Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
                linesInFile = lines.size();
            } else {
                Files.writeString(
                        file,
                        line + "\n",
                        StandardCharsets.UTF_8,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.APPEND);
                linesInFile++;
            }
        } catch (IOException e) {
            LOG.warn(
                    "rank={} reason=\"its account is not kept: {}\"",
                    saved.account().instance(),
                    e.toString());
        }
    }

    /** Writes what waits. */
    @Override
    public void close() {
        writer.shutdown();
        try {
            if (!writer.awaitTermination(CLOSE_WITHIN_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("reason=\"{} is not complete: its disk does not answer\"", file);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
