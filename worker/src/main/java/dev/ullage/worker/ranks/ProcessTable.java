package dev.ullage.worker.ranks;

import java.io.IOException;
import java.util.Optional;
import java.util.OptionalLong;

/** The processes of this host. */
public interface ProcessTable {

    /**
     * What is known of a process; empty when it does not exist, has ended, or is a zombie nobody has reaped yet.
     *
     * @throws IOException when it cannot be told: a process is never taken for gone because of that
     */
    Optional<ProcessFacts> find(long pid) throws IOException;

    /**
     * The process here of one that may be in a container and have another pid there. Of those here that call themselves
     * by that pid it is the one that started at the same tick and, where there are several, is in that namespace.
     *
     * @param pid as the process itself has it
     * @param namespace the kernel's number of its pid namespace
     * @return its pid here; the same when it is in this worker's namespace; empty when none, or not just one, fits
     * @throws IOException when it cannot be told
     */
    OptionalLong pidHere(long pid, long namespace, long startTicks) throws IOException;

    /**
     * @param startTicks clock ticks between boot and its start
     * @param user name (or number) of the user it runs as
     */
    record ProcessFacts(long startTicks, String user) {}
}
