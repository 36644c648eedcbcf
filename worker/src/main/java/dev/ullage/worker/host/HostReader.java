package dev.ullage.worker.host;

import dev.ullage.common.model.HostCapacity;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.config.WorkerSettings;
import dev.ullage.worker.host.CgroupMounts.Group;
import dev.ullage.worker.probe.HostMemory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What the host has for jobs: the lesser of the machine and the control groups that this process is in, those around
 * them included; or what the settings say. Where the kernel's files do not tell, nothing is known. Not thread safe.
 */
public final class HostReader {
    private static final Path PROC = Path.of("/proc");
    private static final Path ONLINE = Path.of("/sys/devices/system/cpu/online");
    private static final String MEMORY = "meminfo";
    private static final int MILLI = 1000;

    private final WorkerSettings.Host said;
    private final Path proc;
    private final Path online;
    /** Read once: a host may have thousands of mounts, and those of its groups stay. */
    private @Nullable CgroupMounts mounts;

    /** Of the machine that this process runs on. */
    public HostReader(WorkerSettings.Host said) {
        this(said, PROC, ONLINE);
    }

    HostReader(WorkerSettings.Host said, Path proc, Path online) {
        this.said = said;
        this.proc = proc;
        this.online = online;
    }

    /**
     * What was read.
     *
     * @param problems why something is not known
     */
    public record Reading(HostCapacity capacity, List<String> problems) {
        public Reading {
            problems = List.copyOf(problems);
        }
    }

    /** Reads some small files of the kernel. */
    public Reading read() {
        List<String> problems = new ArrayList<>();
        OptionalInt cpus = said.cpuMilli().isPresent() ? said.cpuMilli() : measuredCpus(problems);
        Optional<HostMemory> machine = HostMemory.read(proc.resolve(MEMORY));
        if (said.memory().isPresent()) {
            // The worker's own limits are not the jobs' then: what the machine has left bounds them all the same.
            return new Reading(new HostCapacity(cpus, said.memory(), machine.map(HostMemory::available)), problems);
        }
        Optional<HostMemory> memory = machine.flatMap(all -> within(all, problems));
        if (machine.isEmpty()) {
            problems.add("host memory is not known: " + proc.resolve(MEMORY) + " does not say it");
        }
        return new Reading(
                new HostCapacity(cpus, memory.map(HostMemory::total), memory.map(HostMemory::available)), problems);
    }

    private OptionalInt measuredCpus(List<String> problems) {
        try {
            BitSet usable = GroupLimits.cpuList(
                    Files.readString(online, StandardCharsets.ISO_8859_1).strip());
            long limit = Long.MAX_VALUE;
            for (Group group : groups()) {
                GroupLimits limits = new GroupLimits(group);
                limits.cpus().ifPresent(usable::and);
                OptionalLong own = limits.cpuMilli();
                limit = Math.min(limit, own.orElse(limit));
            }
            long milli = Math.min(limit, (long) usable.cardinality() * MILLI);
            if (milli > 0) {
                return OptionalInt.of((int) milli);
            }
            problems.add("cpus are not known: the kernel's files leave none");
        } catch (IOException e) {
            problems.add("cpus are not known: " + e.getMessage());
        }
        return OptionalInt.empty();
    }

    private Optional<HostMemory> within(HostMemory machine, List<String> problems) {
        try {
            MemoryBytes total = machine.total();
            MemoryBytes available = machine.available();
            for (Group group : groups()) {
                GroupLimits limits = new GroupLimits(group);
                Optional<MemoryBytes> most = limits.memory().filter(machine.total()::isMoreThan);
                if (most.isPresent()) {
                    total = total.min(most.get());
                    available = available.min(most.get().minusOrZero(limits.used()));
                }
            }
            if (!total.isZero()) {
                return Optional.of(new HostMemory(total, available.min(total)));
            }
            problems.add("host memory is not known: the kernel's files leave none");
        } catch (IOException e) {
            problems.add("host memory is not known: " + e.getMessage());
        }
        return Optional.empty();
    }

    private List<Group> groups() throws IOException {
        if (mounts == null) {
            mounts = CgroupMounts.read(proc);
        }
        return mounts.groups(proc);
    }
}
