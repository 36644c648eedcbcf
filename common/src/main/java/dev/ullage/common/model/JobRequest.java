package dev.ullage.common.model;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * What a job asks for: room for all of its ranks, or for none.
 *
 * @param submitter who says this, by an id of its own choice: two that use one job name are told apart by it
 * @param groups the ranks, those of the first group first; empty: it needs no device, and waits for none
 * @param ranksPerDevice how many ranks of a group share a device, 1 to {@value #MAX_RANKS_PER_DEVICE}
 * @param runsForMillis how long it says that it runs, more than 0; empty when it does not say
 */
public record JobRequest(
        JobId job,
        String submitter,
        Priority priority,
        List<RankGroup> groups,
        int ranksPerDevice,
        Wanted wanted,
        OptionalLong runsForMillis) {
    public static final int MAX_RANKS = 4096;
    public static final int MAX_GROUPS = 64;
    public static final int MAX_RANKS_PER_DEVICE = 64;
    public static final int MAX_TEXT = 200;

    public JobRequest {
        groups = List.copyOf(groups);
        Names.requireName("submitter", submitter, MAX_TEXT);
        long ranks = groups.stream().mapToLong(RankGroup::ranks).sum();
        if (ranks > MAX_RANKS || groups.size() > MAX_GROUPS) {
            throw new IllegalArgumentException("a request has at most %d ranks in %d groups: %d in %d"
                    .formatted(MAX_RANKS, MAX_GROUPS, ranks, groups.size()));
        }
        if (ranksPerDevice < 1 || ranksPerDevice > MAX_RANKS_PER_DEVICE || runsForMillis.orElse(1) < 1) {
            throw new IllegalArgumentException("ranks per device are 1 to %d, and a job runs for some time: %d, %s"
                    .formatted(MAX_RANKS_PER_DEVICE, ranksPerDevice, runsForMillis));
        }
    }

    /**
     * Which devices will do.
     *
     * @param node its name; empty: any
     * @param model what the product name must match, with * and ?; empty: any
     * @param mig what the profile of a MIG instance must match, with * and ?; empty: no MIG instance will do
     * @param host what each rank must find on its node
     */
    public record Wanted(
            Extent extent, Optional<NodeId> node, Optional<String> model, Optional<String> mig, HostNeed host) {
        public static final Wanted ANY =
                new Wanted(Extent.FEW_NODES, Optional.empty(), Optional.empty(), Optional.empty(), HostNeed.NONE);

        public Wanted {
            model.ifPresent(text -> Names.requireName("model", text, MAX_TEXT));
            mig.ifPresent(text -> Names.requireName("mig", text, MAX_TEXT));
        }

        public Wanted with(Extent other) {
            return new Wanted(other, node, model, mig, host);
        }

        public Wanted with(HostNeed other) {
            return new Wanted(extent, node, model, mig, other);
        }
    }

    /**
     * What each rank asks of its node beside the device. Counted where jobs are placed; nothing holds a rank to it.
     *
     * @param memory of the host, in whole MiB and more than nothing
     * @param cpuMilli processor time in thousandths of a core, more than 0
     */
    public record HostNeed(Optional<MemoryBytes> memory, OptionalInt cpuMilli) {
        public static final HostNeed NONE = new HostNeed(Optional.empty(), OptionalInt.empty());

        public HostNeed {
            memory = memory.map(bytes -> bytes.roundedUpTo(MemoryBytes.ofMebibytes(1)));
            if (cpuMilli.orElse(1) < 1 || memory.map(MemoryBytes::isZero).orElse(false)) {
                throw new IllegalArgumentException(
                        "a rank asks for some processor time and host memory, or for none: %s thousandths of a core, %s"
                                .formatted(cpuMilli, memory));
            }
        }

        public boolean isNone() {
            return memory.isEmpty() && cpuMilli.isEmpty();
        }

        /** In words: {@code 4 cpus and 16.0 GiB of host memory}; empty where nothing is asked for. */
        public String text() {
            String cpus = cpuMilli.isPresent() ? Cpus.counted(cpuMilli.getAsInt()) : "";
            String bytes = memory.map(amount -> amount + " of host memory").orElse("");
            return cpus + (cpus.isEmpty() || bytes.isEmpty() ? "" : " and ") + bytes;
        }
    }

    /** Why nobody could do this, whatever there is; empty when somebody might. */
    public Optional<String> contradiction() {
        long kinds = groups.stream()
                .map(group -> group.memory().isPresent())
                .distinct()
                .count();
        long perDevice = groups.stream()
                .filter(group -> group.memory().isEmpty())
                .mapToLong(group -> (long) group.part().basisPoints() * Math.min(ranksPerDevice, group.ranks()))
                .max()
                .orElse(0);
        if (devices() > Reservation.MAX_PARTS) {
            return Optional.of("%s is on %s; a job that is placed as a whole has at most %d"
                    .formatted(text(), Counts.of(devices(), "device"), Reservation.MAX_PARTS));
        }
        if (kinds > 1) {
            return Optional.of("either all groups ask for an amount of memory, or all for a share of a device");
        }
        if (perDevice > Share.ONE_IN_BASIS_POINTS) {
            return Optional.of("a rank's share times the ranks per device is more than a device");
        }
        boolean isRagged = groups.size() > 1 && groups.stream().anyMatch(group -> group.ranks() % ranksPerDevice != 0);
        return isRagged && !wanted.host().isNone()
                ? Optional.of(
                        "where several groups share devices and ask for cpus or host memory, the ranks of each are a"
                                + " multiple of the ranks per device")
                : Optional.empty();
    }

    /** All of them. */
    public int ranks() {
        return groups.stream().mapToInt(RankGroup::ranks).sum();
    }

    /** How many devices it is on: ranks of two groups share none. */
    public int devices() {
        return groups.stream()
                .mapToInt(group -> -Math.floorDiv(-group.ranks(), ranksPerDevice))
                .sum();
    }

    public JobRequest withPriority(Priority other) {
        return new JobRequest(job, submitter, other, groups, ranksPerDevice, wanted, runsForMillis);
    }

    /** The same, as if nothing were asked of hosts. */
    public JobRequest withoutHostNeed() {
        return wanted.host().isNone()
                ? this
                : new JobRequest(
                        job, submitter, priority, groups, ranksPerDevice, wanted.with(HostNeed.NONE), runsForMillis);
    }

    /** Whether it is placed where the other is: who asks and how urgently makes no difference to that. */
    public boolean isPlacedLike(JobRequest other) {
        return groups.equals(other.groups) && ranksPerDevice == other.ranksPerDevice && wanted.equals(other.wanted);
    }

    /** In words: {@code 4 ranks with 20.0 GiB each}. */
    public String text() {
        if (groups.isEmpty()) {
            return "no device";
        }
        StringBuilder text = new StringBuilder();
        for (RankGroup group : groups) {
            text.append(text.isEmpty() ? "" : ", ")
                    .append(Counts.of(group.ranks(), "rank"))
                    .append(" with ")
                    .append(group.each())
                    .append(group.ranks() == 1 ? "" : " each");
        }
        return text.append(ranksPerDevice == 1 || ranks() == 1 ? "" : ", " + ranksPerDevice + " on a device")
                .append(
                        wanted.host().isNone()
                                ? ""
                                : ", for each rank " + wanted.host().text())
                .append(wanted.extent() == Extent.FEW_NODES ? "" : ", " + wanted.extent())
                .append(wanted.node().map(node -> ", on " + node).orElse(""))
                .append(wanted.model().map(model -> ", model " + model).orElse(""))
                .append(wanted.mig().map(mig -> ", MIG " + mig).orElse(""))
                .toString();
    }
}
