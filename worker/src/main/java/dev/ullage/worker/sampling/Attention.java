package dev.ullage.worker.sampling;

/**
 * Asks for rounds of readings to be passed on though they may say nothing new, because what they are judged by has
 * changed. Threads: any.
 */
public interface Attention {
    /** The next round. For whoever counts how many in a row agree. */
    void next();

    /**
     * The next one that the coordinator would be told of: it is told no more often than it plans. For what it is told
     * with readings.
     */
    void soon();
}
