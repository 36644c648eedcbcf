package dev.ullage.worker.probe.smi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Waits for a child that writes to a file: until it ends, for some time at most, and while the file is not too large.
 * Reading a pipe would need a thread that a stuck child holds for ever.
 */
public final class ChildOutput {
    private static final long LOOK_EVERY_MILLIS = 50;

    /** Why the waiting ended. */
    public enum End {
        EXITED,
        TOO_LATE,
        /** Whether it still runs or not. */
        TOO_MUCH
    }

    private ChildOutput() {}

    /** Ends the child and what it has started; a child that is stuck in a driver stays. */
    public static void end(Process child) {
        child.descendants().forEach(ProcessHandle::destroyForcibly);
        child.destroyForcibly();
    }

    /** Blocks. */
    public static End await(Process child, Path output, Duration deadline, long mostBytes)
            throws IOException, InterruptedException {
        // Counted in waits: each takes as long as it says, or ends with the child.
        for (long left = deadline.toMillis(); ; left -= LOOK_EVERY_MILLIS) {
            boolean hasExited = child.waitFor(Math.min(left, LOOK_EVERY_MILLIS), TimeUnit.MILLISECONDS);
            if (Files.size(output) > mostBytes) {
                return End.TOO_MUCH;
            }
            if (hasExited || left <= LOOK_EVERY_MILLIS) {
                return hasExited ? End.EXITED : End.TOO_LATE;
            }
        }
    }
}
