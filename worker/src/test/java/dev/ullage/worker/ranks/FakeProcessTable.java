package dev.ullage.worker.ranks;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;

/** Processes as a test wants them. */
final class FakeProcessTable implements ProcessTable {
    private final Map<Long, ProcessFacts> processes = new ConcurrentHashMap<>();
    private final Map<List<Long>, Long> contained = new ConcurrentHashMap<>();
    private volatile boolean unreadable;

    /** A process of the user who runs the tests. */
    void run(long pid, long startTicks) {
        runAs(pid, startTicks, System.getProperty("user.name"));
    }

    void runAs(long pid, long startTicks, String user) {
        processes.put(pid, new ProcessFacts(startTicks, user));
    }

    void end(long pid) {
        processes.remove(pid);
    }

    /** From now on nothing can be told of any process. */
    void becomeUnreadable() {
        unreadable = true;
    }

    /** The process calls itself {@code ownPid} in that pid namespace. */
    void contain(long pid, long ownPid, long namespace) {
        contained.put(List.of(ownPid, namespace), pid);
    }

    @Override
    public OptionalLong pidHere(long pid, long namespace, long startTicks) {
        Long here = contained.get(List.of(pid, namespace));
        return here == null ? OptionalLong.empty() : OptionalLong.of(here);
    }

    @Override
    public Optional<ProcessFacts> find(long pid) throws IOException {
        if (unreadable) {
            throw new IOException("too many open files");
        }
        return Optional.ofNullable(processes.get(pid));
    }
}
