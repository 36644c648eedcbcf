package dev.ullage.common.testing;

import dev.ullage.common.ledger.LedgerCommand.DesiredLimit;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Short names for the values that most tests need. */
public final class Fixtures {
    private Fixtures() {}

    public static MemoryBytes gib(long amount) {
        return MemoryBytes.ofGibibytes(amount);
    }

    public static MemoryBytes mib(long amount) {
        return MemoryBytes.ofMebibytes(amount);
    }

    /** Rank {@code number} of job {@code job}, as the process {@code 100 + number}. */
    public static RankInstance rank(int number) {
        return rank(number, 100 + number);
    }

    /** The same rank in another process. */
    public static RankInstance rank(int number, long pid) {
        return new RankInstance(new RankId(new JobId("job"), number), pid, 7 * pid);
    }

    public static RankFacts facts() {
        return new RankFacts(OptionalInt.of(8), OptionalInt.of(0), "torchrun", 0, Optional.empty(), List.of());
    }

    public static CoordinatorToken token(long epoch) {
        return new CoordinatorToken(epoch, "c" + epoch);
    }

    /** The same limit in every phase. */
    public static PhaseLimits limits(MemoryBytes limit) {
        return PhaseLimits.uniform(limit);
    }

    /** {@code low} in every phase but the optimizer's, which gets {@code high}. */
    public static PhaseLimits limits(MemoryBytes low, MemoryBytes high) {
        return PhaseLimits.of(phase -> phase == Phase.OPTIMIZER ? high : low);
    }

    public static DesiredLimit want(RankInstance instance, MemoryBytes limit) {
        return new DesiredLimit(instance, limits(limit), Share.ALL);
    }
}
