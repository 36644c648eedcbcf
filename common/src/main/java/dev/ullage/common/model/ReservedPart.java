package dev.ullage.common.model;

/**
 * What a {@link Reservation} takes of one device.
 *
 * @param node the device's
 * @param amount for all of the job's ranks on this device together; more than nothing
 * @param ranks how many these are, 1 or more
 */
public record ReservedPart(NodeId node, DeviceId device, MemoryBytes amount, int ranks) {
    public ReservedPart {
        if (amount.isZero() || ranks < 1) {
            throw new IllegalArgumentException("a reservation takes something for somebody of device " + device
                    + ", not " + amount + " for " + Counts.of(ranks, "rank"));
        }
    }

    /** What each of its ranks may count on. */
    public MemoryBytes perRank() {
        return amount.dividedBy(ranks);
    }

    @Override
    public String toString() {
        return amount + " for " + Counts.of(ranks, "rank") + " on " + device + " of " + node;
    }
}
