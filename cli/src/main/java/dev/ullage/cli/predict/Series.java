package dev.ullage.cli.predict;

import dev.ullage.common.model.MemoryBytes;
import java.util.List;
import java.util.OptionalInt;

/**
 * Recorded use of one rank or pod, oldest first.
 *
 * @param isBorn whether it began within its recording, so that its first values are those of a new program
 * @param period values that a training step has, where the recording says so
 */
record Series(String name, List<MemoryBytes> values, OptionalInt period, boolean isBorn) {
    Series {
        values = List.copyOf(values);
    }

    /** The most of its first so many values; of one with fewer, of those it has. */
    MemoryBytes most(int first) {
        return values.subList(0, Math.min(first, values.size())).stream().reduce(MemoryBytes.ZERO, MemoryBytes::max);
    }
}
