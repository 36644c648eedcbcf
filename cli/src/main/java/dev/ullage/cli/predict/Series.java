package dev.ullage.cli.predict;

import dev.ullage.common.model.MemoryBytes;
import java.util.List;
import java.util.OptionalInt;

/**
 * Recorded use of one rank or pod, oldest first.
 *
 * @param period values that a training step has, where the recording says so
 */
record Series(String name, List<MemoryBytes> values, OptionalInt period) {
    Series {
        values = List.copyOf(values);
    }
}
