package dev.ullage.worker.sampling;

import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Calls that may never return, on a daemon thread of their own, and never a second one while one is outstanding. */
final class SingleCall {
    private static final Logger LOG = LoggerFactory.getLogger(SingleCall.class);
    private static final Duration KEEP_THREAD = Duration.ofMinutes(1);

    private final String name;
    private final AtomicBoolean busy = new AtomicBoolean();
    private final ThreadPoolExecutor executor;

    /** On a thread of its own, which goes when there is nothing to do for a while. */
    SingleCall(String name) {
        this.name = name;
        this.executor = new ThreadPoolExecutor(
                1, 1, KEEP_THREAD.toMillis(), TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(), daemons(name));
        executor.allowCoreThreadTimeOut(true);
    }

    /** Daemons, because a call stuck in the kernel cannot be ended. */
    static ThreadFactory daemons(String name) {
        return task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }

    /** @param onAnswer called on this thread, when the next call may already be begun */
    <T> boolean begin(Supplier<T> call, Consumer<T> onAnswer) {
        if (executor.isShutdown() || !busy.compareAndSet(false, true)) {
            return false;
        }
        executor.execute(() -> run(call, onAnswer));
        return true;
    }

    private <T> void run(Supplier<T> call, Consumer<T> onAnswer) {
        T answer;
        try {
            answer = call.get();
        } catch (RuntimeException | LinkageError e) {
            // Nothing a driver does makes a probe throw, so this is a fault in Ullage: loud, and not the end.
            LOG.error("thread={} reason=\"a probe failed, which is a fault in Ullage; please report it\"", name, e);
            return;
        } finally {
            busy.set(false);
        }
        onAnswer.accept(answer);
    }

    void end() {
        executor.shutdownNow();
    }
}
