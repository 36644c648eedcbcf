package dev.ullage.worker.ranks;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Splits what arrives into lines, and holds at most one unfinished line of bounded length. Not thread safe. */
final class LineBuffer {
    static final int MAX_LINE_BYTES = 64 * 1024;

    private byte[] bytes = new byte[512];
    private int start;
    private int scanned;
    private int end;
    private boolean tooLong;

    /** Takes all that remains in {@code source}. */
    void add(ByteBuffer source) {
        int size = source.remaining();
        if (end + size > bytes.length) {
            int kept = end - start;
            byte[] target = kept + size > bytes.length ? new byte[Math.max(kept + size, bytes.length * 2)] : bytes;
            System.arraycopy(bytes, start, target, 0, kept);
            bytes = target;
            scanned -= start;
            start = 0;
            end = kept;
        }
        source.get(bytes, end, size);
        end += size;
    }

    /** The next whole line without its end, or null when none has arrived or the next one is too long. */
    byte @Nullable [] next() {
        while (scanned < end && bytes[scanned] != '\n') {
            scanned++;
        }
        tooLong |= scanned - start > MAX_LINE_BYTES;
        if (tooLong || scanned == end) {
            return null;
        }
        byte[] line = Arrays.copyOfRange(bytes, start, scanned);
        scanned++;
        start = scanned;
        return line;
    }

    /** Whether {@link #next} met a line, finished or not, that is longer than any message may be. */
    boolean isTooLong() {
        return tooLong;
    }
}
