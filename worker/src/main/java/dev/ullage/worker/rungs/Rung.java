package dev.ullage.worker.rungs;

import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import java.io.IOException;

/**
 * A mechanism that can hold a rank to a limit from outside. One owner at a time; every method may block for as long as
 * a file system or driver pleases.
 */
interface Rung {
    EnforcedBy name();

    /** Whether a new limit is in force at once; of one that is not, only what it was started with. */
    default boolean isLive() {
        return true;
    }

    /** Whether it can hold this process now, or why not. Changes nothing. */
    Attempt probe(RankProcess process);

    /** The process is gone: lets go of what is kept for it. */
    void clear(RankInstance instance);

    /** What a probe came to. */
    sealed interface Attempt {}

    record Possible(Grip grip) implements Attempt {}

    /** @param why one sentence for people, without a full stop */
    record Impossible(String why) implements Attempt {}

    /** Its hold on one process. */
    interface Grip {

        /**
         * Sets the limit, but never one below what is used, and returns what is in force then, read back.
         *
         * @throws IOException when it cannot be set or read back any more; the process is to be probed again
         */
        MemoryBytes apply(MemoryBytes limit) throws IOException;
    }
}
