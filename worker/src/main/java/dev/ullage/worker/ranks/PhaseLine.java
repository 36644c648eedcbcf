package dev.ullage.worker.ranks;

import dev.ullage.common.model.Phase;
import dev.ullage.worker.ranks.RankMessage.PhaseEntered;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Reads the one line a training thread may wait for, in the exact form the client writes it; anything else is for
 * {@link RankCodec}. A general parser costs more than the rest of the call.
 */
final class PhaseLine {
    private static final byte[] START = bytes("{\"type\":\"phase\",\"phase\":\"");
    private static final byte[] STEP = bytes(",\"step\":");
    private static final byte[] ID = bytes(",\"id\":");
    private static final Phase[] PHASES = Phase.values();
    private static final byte[][] NAMES =
            Arrays.stream(PHASES).map(phase -> bytes(phase.name() + "\"")).toArray(byte[][]::new);
    private static final int MAX_DIGITS = 15;

    private final byte[] line;
    private int at;

    private PhaseLine(byte[] line) {
        this.line = line;
    }

    /** The message, or null when the line is not of the form {@code {"type":"phase","phase":P[,"step":N][,"id":N]}}. */
    static @Nullable PhaseEntered parse(byte[] line) {
        return new PhaseLine(line).parse();
    }

    private @Nullable PhaseEntered parse() {
        if (!skip(START)) {
            return null;
        }
        for (int i = 0; i < NAMES.length; i++) {
            if (skip(NAMES[i])) {
                OptionalLong step = number(STEP);
                OptionalLong id = number(ID);
                boolean isWhole = at == line.length - 1 && line[at] == '}';
                return isWhole ? new PhaseEntered(PHASES[i], step, id) : null;
            }
        }
        return null;
    }

    private boolean skip(byte[] expected) {
        int end = at + expected.length;
        if (end > line.length || !Arrays.equals(line, at, end, expected, 0, expected.length)) {
            return false;
        }
        at = end;
        return true;
    }

    /** The number behind a field's name; empty, and nothing read, when the field is not there in this form. */
    private OptionalLong number(byte[] name) {
        int before = at;
        if (!skip(name)) {
            return OptionalLong.empty();
        }
        int first = at;
        long value = 0;
        while (at < line.length && line[at] >= '0' && line[at] <= '9') {
            value = value * 10 + line[at] - '0';
            at++;
        }
        if (at == first || at - first > MAX_DIGITS) {
            at = before;
            return OptionalLong.empty();
        }
        return OptionalLong.of(value);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
