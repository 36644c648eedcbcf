package dev.ullage.network;

import dev.ullage.common.model.MemoryBytes;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.stream.LongStream;

/** What the network is shown of a series at each step; {@code bench/predictor/train.py} computes the same. */
final class LstmFeatures {
    static final int COUNT = 7;
    static final double UNIT = 8.0 * MemoryBytes.GIBIBYTE;
    private static final int WINDOW = 60;
    private static final int SHORT_WINDOW = 10;

    private final Deque<Long> recent = new ArrayDeque<>();
    private int idleSteps;

    /** The series did not change in the newest step. */
    boolean isIdle() {
        return idleSteps > 0;
    }

    float[] next(long value) {
        long before = recent.isEmpty() ? value : recent.getLast();
        boolean isFirst = recent.isEmpty();
        recent.addLast(value);
        if (recent.size() > WINDOW) {
            recent.removeFirst();
        }
        idleSteps = isFirst || value != before ? 0 : idleSteps + 1;
        return new float[] {
            (float) (value / UNIT),
            (float) ((value - before) / UNIT),
            value == before ? 0 : 1,
            (float) (Math.log1p(idleSteps) / 4),
            (float) (values().skip(Math.max(0, recent.size() - SHORT_WINDOW))
                            .max()
                            .orElse(0)
                    / UNIT),
            (float) (values().max().orElse(0) / UNIT),
            (float) (values().asDoubleStream().average().orElse(0) / UNIT)
        };
    }

    private LongStream values() {
        return recent.stream().mapToLong(Long::longValue);
    }
}
