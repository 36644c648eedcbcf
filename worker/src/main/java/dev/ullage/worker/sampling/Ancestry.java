package dev.ullage.worker.sampling;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongFunction;

/**
 * Where a process comes from. Pure.
 *
 * @param isVisible whether there is such a process in this worker's pid namespace
 * @param ancestors its parent first, up to but without the first process of the system
 */
public record Ancestry(long pid, boolean isVisible, List<Long> ancestors) {
    private static final int MAX_DEPTH = 64;
    private static final long FIRST_PROCESS = 1;

    public Ancestry {
        ancestors = List.copyOf(ancestors);
    }

    /** @param find what is known of a process; a parent that ended meanwhile ends the chain */
    static Ancestry of(long pid, LongFunction<Optional<ProcStatus>> find) {
        return of(pid, find, find);
    }

    /** @param findParent the same of a parent, where an answer that is a little older will do */
    static Ancestry of(
            long pid, LongFunction<Optional<ProcStatus>> find, LongFunction<Optional<ProcStatus>> findParent) {
        Optional<ProcStatus> process = find.apply(pid);
        boolean isVisible = process.isPresent();
        List<Long> ancestors = new ArrayList<>();
        while (process.isPresent() && process.get().parent() > FIRST_PROCESS && ancestors.size() < MAX_DEPTH) {
            long parent = process.get().parent();
            ancestors.add(parent);
            process = findParent.apply(parent);
        }
        return new Ancestry(pid, isVisible, ancestors);
    }
}
