package dev.ullage.worker.limits;

import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.protocol.WriteTimes;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;

/** Where a device's ledger survives a crash. One owner, not thread safe. */
public interface LedgerStore extends Closeable {

    /** The events of the past, in order; empty for a new ledger. Called once, before anything else. */
    List<LedgerEvent> replay() throws IOException;

    /** Adds events and returns only when they would survive a power cut. On an exception none may be relied on. */
    void append(List<LedgerEvent> events) throws IOException;

    /** How long each {@link #append} since this store was opened took; one that failed does not count. */
    WriteTimes writeTimes();

    /** Replaces everything by one snapshot: after it, {@link #replay} would return just this. */
    void compact(LedgerEvent.Snapshot snapshot) throws IOException;

    /**
     * For an orderly end: leaves one snapshot of what was appended, whatever its owner believes. A version from before
     * some kind of event cannot read a file with one in it. It reads a snapshot, and passes over fields that it does
     * not know; so a worker that was stopped in order can be followed by an older one.
     */
    void condense() throws IOException;

    /** How many events a replay would return; what decides when to compact. */
    long length();
}
