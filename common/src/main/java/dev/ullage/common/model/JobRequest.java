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
     * @param host what their nodes must have
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
    }

    /**
     * What each of its nodes must have beside the devices.
     *
     * @param cpuMilli processor time in thousandths of a core
     */
    public record HostNeed(Optional<MemoryBytes> memory, OptionalInt cpuMilli) {
        public static final HostNeed NONE = new HostNeed(Optional.empty(), OptionalInt.empty());
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
            return Optional.of("%s is on %d devices; a job that is placed as a whole has at most %d"
                    .formatted(text(), devices(), Reservation.MAX_PARTS));
        }
        if (kinds > 1) {
            return Optional.of("either all groups ask for an amount of memory, or all for a share of a device");
        }
        return perDevice > Share.ONE_IN_BASIS_POINTS
                ? Optional.of("a rank's share times the ranks per device is more than a device")
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
                    .append(group.ranks())
                    .append(group.ranks() == 1 ? " rank with " : " ranks with ")
                    .append(group.each())
                    .append(group.ranks() == 1 ? "" : " each");
        }
        return text.append(ranksPerDevice == 1 ? "" : ", " + ranksPerDevice + " on a device")
                .append(wanted.extent() == Extent.FEW_NODES ? "" : ", " + wanted.extent())
                .append(wanted.node().map(node -> ", on " + node).orElse(""))
                .append(wanted.model().map(model -> ", model " + model).orElse(""))
                .append(wanted.mig().map(mig -> ", MIG " + mig).orElse(""))
                .toString();
    }
}
