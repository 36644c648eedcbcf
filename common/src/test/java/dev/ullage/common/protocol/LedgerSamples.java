package dev.ullage.common.protocol;

import dev.ullage.common.model.MemoryBytes;
import java.util.List;
import java.util.Optional;

/** What a device's keeper has counted, for {@link WireSamples}. */
final class LedgerSamples {
    private LedgerSamples() {}

    static KeeperCounts counts() {
        LedgerWork work = new LedgerWork(
                new WriteTimes(List.of(new WriteTimes.Length(100, 7), new WriteTimes.Length(3_000, 2)), 1, 9_500),
                List.of(new LedgerWork.RefusalsByRule("NO_ROOM", 2)));
        return new KeeperCounts(42, 1, 41, 2, MemoryBytes.ofGibibytes(64), 0, Optional.of(work));
    }
}
