package dev.ullage.worker.sampling;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.Identity;
import dev.ullage.worker.sampling.Attribution.Placed;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The newest {@link Attribution} of each device: most readings find the same processes and the same ranks, and then it
 * is not worked out again. Never anything else than what would be worked out. Mutable; one owner, soft.
 */
public final class Attributions {
    private final Map<DeviceId, Made> newest = new TreeMap<>();

    /** What an attribution follows from, and what it came to. */
    private record Made(
            Optional<List<ProcessUse>> processes,
            List<Ancestry> ancestries,
            Map<Long, Placed> ranks,
            Attribution attribution) {

        boolean isOf(Sample sample, Map<Long, Placed> newRanks) {
            return Identity.isSame(processes, sample.reading().processes())
                    && Identity.isSame(ancestries, sample.ancestries())
                    && Identity.isSame(ranks, newRanks);
        }
    }

    /** @param ranks by process; never changed after this */
    public Attribution of(Sample sample, Map<Long, Placed> ranks) {
        Made known = newest.get(sample.device());
        if (known != null && known.isOf(sample, ranks)) {
            return known.attribution();
        }
        Attribution made = Attribution.of(sample.device(), sample.reading(), sample.ancestries(), ranks);
        newest.put(sample.device(), new Made(sample.reading().processes(), sample.ancestries(), ranks, made));
        return made;
    }
}
