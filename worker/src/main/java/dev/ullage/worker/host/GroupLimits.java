package dev.ullage.worker.host;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.worker.host.CgroupMounts.Group;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What one control group allows. A file that is not there bounds nothing: its controller is not in use in this group.
 * One that is there and cannot be understood is an error, because nobody knows then what it bounds.
 */
record GroupLimits(Group group) {
    private static final String UNBOUNDED = "max";
    /** Version 1: microseconds that its processes may run in each period together. */
    private static final String RUN_TIME = "cpu.cfs_quo" + "ta_us";

    private static final String PERIOD = "cpu.cfs_period_us";
    private static final int MILLI = 1000;
    private static final int MAX_CPU = 1 << 16;

    /**
     * Processor time that may be used, in thousandths of a core, rounded down; empty: as much as there is.
     *
     * @throws IOException when it cannot be told
     */
    OptionalLong cpuMilli() throws IOException {
        return group.isUnified() ? cpuMilli(text("cpu.max").map(GroupLimits::words)) : cpuMilliOfVersion1();
    }

    private OptionalLong cpuMilliOfVersion1() throws IOException {
        Optional<String> time = text(RUN_TIME);
        Optional<String> period = text(PERIOD);
        boolean isUnbounded = time.map(text -> text.startsWith("-")).orElse(true);
        return isUnbounded || period.isEmpty()
                ? OptionalLong.empty()
                : cpuMilli(Optional.of(List.of(time.orElseThrow(), period.get())));
    }

    private OptionalLong cpuMilli(Optional<List<String>> words) throws IOException {
        if (words.isEmpty() || words.get().get(0).equals(UNBOUNDED)) {
            return OptionalLong.empty();
        }
        if (words.get().size() != 2) {
            throw new IOException(
                    group.folder() + " has a limit of processor time that cannot be understood: " + words.get());
        }
        long micros = number(words.get().get(0));
        long period = number(words.get().get(1));
        if (period == 0 || micros > Long.MAX_VALUE / MILLI) {
            throw new IOException(
                    group.folder() + " has a limit of processor time that cannot be understood: " + words.get());
        }
        return OptionalLong.of(micros * MILLI / period);
    }

    /**
     * The processors that may be used; empty: this group does not say.
     *
     * @throws IOException when it cannot be told
     */
    Optional<BitSet> cpus() throws IOException {
        Optional<String> list = text(group.isUnified() ? "cpuset.cpus.effective" : "cpuset.effective_cpus");
        if (list.isEmpty() && !group.isUnified()) {
            list = text("cpuset.cpus");
        }
        return list.isEmpty() || list.get().isEmpty() ? Optional.empty() : Optional.of(cpuList(list.get()));
    }

    /** From a list like {@code 0-3,8}. */
    static BitSet cpuList(String list) throws IOException {
        BitSet cpus = new BitSet();
        for (String range : list.split(",")) {
            String[] ends = range.strip().split("-", 2);
            long first = number(ends[0]);
            long last = number(ends[ends.length - 1]);
            if (first > last || last >= MAX_CPU) {
                throw new IOException("this is no list of processors: " + list);
            }
            cpus.set((int) first, (int) last + 1);
        }
        return cpus;
    }

    /**
     * Memory that may be used; empty: as much as there is.
     *
     * @throws IOException when it cannot be told
     */
    Optional<MemoryBytes> memory() throws IOException {
        Optional<String> limit = text(group.isUnified() ? "memory.max" : "memory.limit_in_bytes");
        return limit.isEmpty() || limit.get().equals(UNBOUNDED)
                ? Optional.empty()
                : Optional.of(MemoryBytes.of(number(limit.get())));
    }

    /**
     * What is used of that, without file pages that the kernel would give up at once.
     *
     * @throws IOException when it cannot be told
     */
    MemoryBytes used() throws IOException {
        String file = group.isUnified() ? "memory.current" : "memory.usage_in_bytes";
        Optional<String> used = text(file);
        if (used.isEmpty()) {
            throw new IOException(group.folder() + " has a memory limit and no " + file);
        }
        return MemoryBytes.of(number(used.get())).minusOrZero(reclaimable());
    }

    private MemoryBytes reclaimable() throws IOException {
        String name = group.isUnified() ? "inactive_file" : "total_inactive_file";
        for (String line : text("memory.stat").orElse("").split("\n")) {
            List<String> words = words(line);
            if (words.size() == 2 && words.get(0).equals(name)) {
                return MemoryBytes.of(number(words.get(1)));
            }
        }
        return MemoryBytes.ZERO;
    }

    private Optional<String> text(String name) throws IOException {
        Path file = group.folder().resolve(name);
        return Files.exists(file)
                ? Optional.of(
                        Files.readString(file, StandardCharsets.ISO_8859_1).strip())
                : Optional.empty();
    }

    private static List<String> words(String text) {
        return List.of(text.strip().split("\\s+"));
    }

    private static long number(String text) throws IOException {
        try {
            long number = Long.parseLong(text.strip());
            if (number >= 0) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Said below.
        }
        throw new IOException("this is no number of 0 or more: " + text);
    }
}
