package dev.ullage.cli.place;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.common.model.Counts;
import dev.ullage.common.model.Cpus;
import dev.ullage.common.model.JobRequest.HostNeed;
import dev.ullage.common.model.MemoryBytes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a node's host has for ranks beside its devices; what it does not say is empty. Pure.
 *
 * @param most what all jobs there together could ask for
 * @param free of that, what no job of the queue asked for, and of memory no more than is available
 */
record HostFigures(Amounts most, Amounts free) {
    static final HostFigures UNKNOWN = new HostFigures(Amounts.UNKNOWN, Amounts.UNKNOWN);

    /** @param cpuMilli processor time in thousandths of a core */
    record Amounts(OptionalLong cpuMilli, Optional<MemoryBytes> memory) {
        static final Amounts UNKNOWN = new Amounts(OptionalLong.empty(), Optional.empty());

        /** For how many ranks that ask for this each there is enough; what is not known is enough for none. */
        int ranks(HostNeed each) {
            return ranks(each, 0, MemoryBytes.ZERO);
        }

        /** The same as if what is not known were without bounds. */
        int ranksAtBest(HostNeed each) {
            return ranks(each, Long.MAX_VALUE, MemoryBytes.of(Long.MAX_VALUE));
        }

        private int ranks(HostNeed each, long unknownMilli, MemoryBytes unknownMemory) {
            long byCpu = each.cpuMilli().isPresent()
                    ? cpuMilli.orElse(unknownMilli) / each.cpuMilli().getAsInt()
                    : Integer.MAX_VALUE;
            long byMemory = each.memory()
                    .map(need -> memory.orElse(unknownMemory).value() / need.value())
                    .orElse((long) Integer.MAX_VALUE);
            return (int) Math.min(Integer.MAX_VALUE, Math.min(byCpu, byMemory));
        }
    }

    static HostFigures of(JsonNode node) {
        JsonNode host = node.path("host");
        OptionalLong cpus = number(host, "cpuMilli");
        Optional<MemoryBytes> memory = bytes(host, "memoryBytes");
        OptionalLong askedMilli = number(host, "askedCpuMilli");
        Optional<MemoryBytes> asked = bytes(host, "askedMemoryBytes");
        Optional<MemoryBytes> available = bytes(host, "availableBytes");
        OptionalLong freeCpus = cpus.isPresent() && askedMilli.isPresent()
                ? OptionalLong.of(Math.max(0, cpus.getAsLong() - askedMilli.getAsLong()))
                : OptionalLong.empty();
        Optional<MemoryBytes> freeMemory =
                memory.flatMap(all -> asked.map(taken -> all.minusOrZero(taken).min(available.orElse(all))));
        return new HostFigures(new Amounts(cpus, memory), new Amounts(freeCpus, freeMemory));
    }

    private static OptionalLong number(JsonNode json, String field) {
        JsonNode value = json.path(field);
        return value.isIntegralNumber() && value.canConvertToLong() && value.longValue() >= 0
                ? OptionalLong.of(value.longValue())
                : OptionalLong.empty();
    }

    private static Optional<MemoryBytes> bytes(JsonNode json, String field) {
        OptionalLong value = number(json, field);
        return value.isPresent() ? Optional.of(MemoryBytes.of(value.getAsLong())) : Optional.empty();
    }

    /**
     * What of it is too little for all of a job's ranks, for people: {@code cpus on host-a: asked 16, free 8}.
     *
     * @param amounts {@link #most} or {@link #free}
     * @param word what these are called
     */
    static List<String> lacking(String node, Amounts amounts, HostNeed each, int ranks, String word) {
        List<String> lines = new ArrayList<>();
        each.cpuMilli().ifPresent(milli -> {
            if (amounts.cpuMilli().isEmpty()) {
                lines.add(node + " does not say how many cpus it has");
            } else if (amounts.cpuMilli().getAsLong() < (long) milli * ranks) {
                lines.add("cpus on %s: asked %s, %s %s"
                        .formatted(
                                node,
                                ofEach(Cpus.text(milli), ranks),
                                word,
                                Cpus.text(amounts.cpuMilli().getAsLong())));
            }
        });
        each.memory().ifPresent(bytes -> {
            if (amounts.memory().isEmpty()) {
                lines.add(node + " does not say how much host memory it has");
            } else if (amounts.memory().get().value() / bytes.value() < ranks) {
                lines.add("host memory on %s: asked %s, %s %s"
                        .formatted(
                                node,
                                ofEach(bytes.toString(), ranks),
                                word,
                                amounts.memory().get()));
            }
        });
        return lines;
    }

    private static String ofEach(String amount, int ranks) {
        return ranks == 1 ? amount : "%s for each of %s".formatted(amount, Counts.of(ranks, "rank"));
    }
}
