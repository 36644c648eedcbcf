package dev.ullage.common.protocol;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.OomKind;
import dev.ullage.common.model.OomLevel;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankInstance;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A rank ran out of memory.
 *
 * @param sequence the newest directive it had applied by then, 0 when none: an older one than the job's newest makes
 *     this report one of the past
 * @param step the step that failed, 0 or more
 */
public record OomReport(
        RankInstance instance, long sequence, long step, Phase phase, OomKind kind, Figures figures, Means means) {

    /**
     * What was known of the memory when it ran out.
     *
     * @param requested what was asked for
     * @param base what the allocator had handed out when the step began: what no smaller batch makes smaller
     * @param allocated what it had handed out when the request failed
     * @param reserved what it had taken from the device
     * @param unused what of that was in no use
     * @param limit the most the process may take
     */
    public record Figures(
            Optional<MemoryBytes> requested,
            Optional<MemoryBytes> base,
            Optional<MemoryBytes> allocated,
            Optional<MemoryBytes> reserved,
            Optional<MemoryBytes> unused,
            Optional<MemoryBytes> limit) {
        public static final Figures UNKNOWN = new Figures(
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    /**
     * What the rank can do about it.
     *
     * @param microBatch samples in its largest micro-batch, 1 or more, when it has any
     * @param batch samples of the rank in one step, over all micro-batches
     * @param levels what it has registered beside the micro-batch: each may be ordered once
     * @param retry whether this step can be run again: no rank has changed its parameters
     */
    public record Means(OptionalInt microBatch, OptionalInt batch, List<OomLevel> levels, boolean retry) {
        public Means {
            levels = List.copyOf(levels);
        }
    }
}
