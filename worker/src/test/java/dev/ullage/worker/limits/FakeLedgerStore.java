package dev.ullage.worker.limits;

import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.protocol.WriteTimes;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** A store in memory that can fail, that tells when an append is about to return, and whose appends all take alike. */
final class FakeLedgerStore implements LedgerStore {
    static final long APPEND_MICROS = 200;

    private final List<List<LedgerEvent>> records = new ArrayList<>();
    private Runnable beforeReturn = () -> {};
    private WriteTimes writeTimes = WriteTimes.NONE;
    private boolean fails;
    private boolean closed;
    private boolean condensed;

    /** What to do when everything is written and the caller does not know it yet. */
    void beforeAppendReturns(Runnable action) {
        beforeReturn = action;
    }

    synchronized void failFromNowOn() {
        fails = true;
    }

    /** After the events were brought together. */
    synchronized boolean isClosed() {
        return closed && condensed;
    }

    synchronized List<List<LedgerEvent>> records() {
        return List.copyOf(records);
    }

    @Override
    public synchronized List<LedgerEvent> replay() {
        return records.stream().flatMap(List::stream).toList();
    }

    @Override
    public synchronized void append(List<LedgerEvent> events) throws IOException {
        if (fails) {
            throw new IOException("no space left on device");
        }
        records.add(List.copyOf(events));
        writeTimes = writeTimes.withOne(APPEND_MICROS);
        beforeReturn.run();
    }

    @Override
    public synchronized WriteTimes writeTimes() {
        return writeTimes;
    }

    @Override
    public synchronized void compact(LedgerEvent.Snapshot snapshot) {
        records.clear();
        records.add(List.of(snapshot));
    }

    @Override
    public synchronized void condense() {
        condensed = true;
    }

    @Override
    public synchronized long length() {
        return records.stream().mapToLong(List::size).sum();
    }

    @Override
    public synchronized void close() {
        closed = true;
    }
}
