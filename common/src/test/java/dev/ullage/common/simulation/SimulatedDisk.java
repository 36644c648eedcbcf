package dev.ullage.common.simulation;

import java.util.ArrayList;
import java.util.List;

/**
 * A file that is only appended to. What was written is durable once it was synced; of the rest a crash leaves some
 * first part, and of the record it ends in nothing at all, because a torn record is recognised and cut off.
 *
 * @param <T> what a record consists of
 */
public final class SimulatedDisk<T> {
    private final List<List<T>> written = new ArrayList<>();
    private int synced;

    public void append(List<T> record) {
        written.add(List.copyOf(record));
    }

    public void sync() {
        synced = written.size();
    }

    /** Everything is replaced by one record, at once and durably, as by a rename. */
    public void replaceBy(List<T> record) {
        written.clear();
        append(record);
        sync();
    }

    /** The process that wrote is gone; each unsynced record may have reached the disk, if all before it have. */
    public void crash(Dice dice) {
        int kept = synced + dice.below(written.size() - synced + 1);
        written.subList(kept, written.size()).clear();
        sync();
    }

    /** Somebody deleted the file. */
    public void wipe() {
        written.clear();
        sync();
    }

    /** All records, in order: what a reader finds. */
    public List<T> read() {
        return written.stream().flatMap(List::stream).toList();
    }

    /** How many records there are. */
    public int length() {
        return written.size();
    }
}
