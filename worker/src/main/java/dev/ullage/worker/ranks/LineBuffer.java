package dev.ullage.worker.ranks;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Splits what arrives into lines, and holds at most one unfinished line of bounded length. Not thread safe. */
final class LineBuffer {
    static final int MAX_LINE_BYTES = 64 * 1024;

    private byte[] bytes = new byte[512];
    private int start;
    private int end;

    /** Takes all that remains in {@code source}. */
    void add(ByteBuffer source) {
        int size = source.remaining();
        if (end + size > bytes.length) {
            int kept = end - start;
            byte[] target = kept + size > bytes.length ? new byte[Math.max(kept + size, bytes.length * 2)] : bytes;
            System.arraycopy(bytes, start, target, 0, kept);
            bytes = target;
            start = 0;
            end = kept;
        }
        source.get(bytes, end, size);
        end += size;
    }

    /** The next whole line without its end, or null when none has arrived. */
    byte @Nullable [] next() {
        for (int i = start; i < end; i++) {
            if (bytes[i] == '\n') {
                byte[] line = Arrays.copyOfRange(bytes, start, i);
                start = i + 1;
                return line;
            }
        }
        return null;
    }

    /** Whether the unfinished line is longer than any message may be. */
    boolean isTooLong() {
        return end - start > MAX_LINE_BYTES;
    }
}
