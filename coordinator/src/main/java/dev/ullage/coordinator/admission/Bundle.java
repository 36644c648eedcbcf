package dev.ullage.coordinator.admission;

import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankGroup;
import java.util.ArrayList;
import java.util.List;

/**
 * The ranks of one group that share a device.
 *
 * @param ranks 1 or more
 */
record Bundle(RankGroup group, int ranks) {

    /**
     * Of all ranks in the order of their numbers: as many on each device as the request says, the last with the rest.
     */
    static List<Bundle> of(JobRequest request) {
        List<Bundle> bundles = new ArrayList<>();
        for (RankGroup group : request.groups()) {
            for (int left = group.ranks(); left > 0; left -= request.ranksPerDevice()) {
                bundles.add(new Bundle(group, Math.min(left, request.ranksPerDevice())));
            }
        }
        return bundles;
    }

    MemoryBytes needOn(DeviceOffer device) {
        long each = group.eachOf(device.most()).value();
        // No device has more than this, and an amount that none has stays one.
        return MemoryBytes.of(each > Long.MAX_VALUE / ranks ? Long.MAX_VALUE : each * ranks);
    }

    boolean fits(DeviceOffer device) {
        return !needOn(device).isMoreThan(device.room()) && !needOn(device).isZero();
    }

    /** More is harder to place; comparable within a request, whose groups all ask for amounts or all for shares. */
    long weight() {
        long each = group.memory().map(MemoryBytes::value).orElseGet(() ->
                (long) group.part().basisPoints());
        return each > Long.MAX_VALUE / ranks ? Long.MAX_VALUE : each * ranks;
    }

    String text() {
        return ranks == 1 ? group.each() : ranks + " x " + group.each();
    }
}
