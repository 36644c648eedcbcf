package dev.ullage.worker.rungs;

import dev.ullage.worker.host.CgroupMounts;
import dev.ullage.worker.sampling.ProcStatus;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Cgroups of version 2, as far as they name a process. Limits in them are never written by hand: the driver's own call
 * tells the ancestors too.
 *
 * @param proc the folder of processes
 */
record Cgroups(Path proc) {
    private static final String PROCESSES = "cgroup.procs";
    private static final String UNIFIED = "0::";
    private static final int MAX_DEPTH = 64;

    /** Where version 2 is mounted; empty where it is not. */
    Optional<Path> mount() throws IOException {
        return CgroupMounts.read(proc).unified();
    }

    /** The folder of a process' cgroup, which may change while it runs. */
    Path of(long pid) throws IOException {
        Path mount = mount().orElseThrow(() -> new IOException("cgroup version 2 is not mounted"));
        Path file = proc.resolve(Long.toString(pid)).resolve("cgroup");
        String path = Files.readAllLines(file, StandardCharsets.ISO_8859_1).stream()
                .filter(line -> line.startsWith(UNIFIED))
                .map(line -> line.substring(UNIFIED.length()))
                .findFirst()
                .orElseThrow(() -> new IOException(file + " names no cgroup of version 2"));
        Path folder = mount.resolve(Path.of("/").relativize(Path.of(path))).normalize();
        if (!folder.startsWith(mount) || !Files.isDirectory(folder)) {
            throw new IOException("its cgroup " + path + " cannot be seen from here");
        }
        return folder;
    }

    /** Whether all processes in the cgroup are this one or were started by it. */
    boolean isOnlyOf(Path cgroup, long pid) throws IOException {
        for (long member : processes(cgroup)) {
            if (!descends(member, pid)) {
                return false;
            }
        }
        return true;
    }

    List<Long> processes(Path cgroup) throws IOException {
        return Files.readAllLines(cgroup.resolve(PROCESSES), StandardCharsets.ISO_8859_1).stream()
                .map(String::strip)
                .filter(line -> !line.isEmpty())
                .map(Long::valueOf)
                .toList();
    }

    private boolean descends(long process, long ancestor) {
        long at = process;
        for (int i = 0; i < MAX_DEPTH && at != ancestor && at > 1; i++) {
            at = ProcStatus.read(proc, at).map(ProcStatus::parent).orElse(0L);
        }
        return at == ancestor;
    }

    void move(long pid, Path cgroup) throws IOException {
        Files.writeString(cgroup.resolve(PROCESSES), Long.toString(pid));
    }
}
