package dev.ullage.worker.ranks;

import java.io.IOException;
import java.util.Optional;

/** The processes of this host. */
public interface ProcessTable {

    /**
     * What is known of a process; empty when it does not exist, has ended, or is a zombie nobody has reaped yet.
     *
     * @throws IOException when it cannot be told: a process is never taken for gone because of that
     */
    Optional<ProcessFacts> find(long pid) throws IOException;

    /**
     * @param startTicks clock ticks between boot and its start
     * @param user name (or number) of the user it runs as
     */
    record ProcessFacts(long startTicks, String user) {}
}
