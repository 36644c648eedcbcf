package dev.ullage.cli.place;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.JobRequest.HostNeed;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;
import dev.ullage.coordinator.planning.balance.PolicyKind;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What somebody wants placed.
 *
 * @param ranks 1 or more
 * @param ranksPerDevice 1 or more
 * @param memory of each rank; empty when it is a share
 * @param share of its device's memory, of each rank; empty when it is an amount
 * @param extent how far apart the ranks may or must be
 * @param model what the product name of a device must match, with * and ?; empty when any will do
 * @param cores logical cores that each rank is to be bound to, 1 or more; empty: not said
 * @param host what each rank asks of its host beside the device
 */
record PlacementWish(
        int ranks,
        int ranksPerDevice,
        Optional<MemoryBytes> memory,
        Optional<Share> share,
        Extent extent,
        Optional<String> model,
        PolicyKind policy,
        OptionalInt cores,
        HostNeed host) {

    /** Without cores, and without anything asked of hosts. */
    PlacementWish(
            int ranks,
            int ranksPerDevice,
            Optional<MemoryBytes> memory,
            Optional<Share> share,
            Extent extent,
            Optional<String> model,
            PolicyKind policy) {
        this(ranks, ranksPerDevice, memory, share, extent, model, policy, OptionalInt.empty(), HostNeed.NONE);
    }

    /** On how many nodes. */
    enum Extent {
        SAME_NODE,
        /** As few nodes as come out when each takes as many as it can. */
        FEW_NODES,
        /** One device at a time, each on the node that is used least. */
        SPREAD
    }

    /** Each with {@link #ranksPerDevice} ranks, the last with what remains. */
    int devices() {
        return (ranks + ranksPerDevice - 1) / ranksPerDevice;
    }

    /** Those that have as many ranks as a device may. */
    int fullDevices() {
        return ranks / ranksPerDevice;
    }

    /** Ranks of the last device where it has fewer; 0 where all are full. */
    int ranksOnLast() {
        return ranks % ranksPerDevice;
    }

    /** The most ranks of a device. */
    int mostOnDevice() {
        return Math.min(ranks, ranksPerDevice);
    }

    /** The same, as if nothing were asked of hosts. */
    PlacementWish withoutHostNeed() {
        return new PlacementWish(ranks, ranksPerDevice, memory, share, extent, model, policy, cores, HostNeed.NONE);
    }

    /** What it asks of devices, in words: {@code 2 devices with 2 x 30.0 GiB each, the last with 30.0 GiB}. */
    String text() {
        String where = extent == Extent.SAME_NODE ? " of one node" : "";
        String last = ranksOnLast() > 0 && fullDevices() > 0 ? ", the last with " + of(ranksOnLast()) : "";
        return "%s%s with %s%s%s"
                .formatted(
                        Counts.of(devices(), "device"), where, of(mostOnDevice()), devices() == 1 ? "" : " each", last);
    }

    private String of(int sharing) {
        String amount = memory.map(MemoryBytes::toString)
                .or(() -> share.map(part -> part + " of a device"))
                .orElseThrow();
        return sharing == 1 ? amount : "%d x %s".formatted(sharing, amount);
    }
}
