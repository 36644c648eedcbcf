package dev.ullage.worker.sampling;

import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.RankSample;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Between what and what the foreign memory of a device lies where the driver does not tell it: of what is in use, all
 * that is not our ranks' is foreign. Pure.
 *
 * @param used what is in use on the device, by whomever
 * @param listed what the driver tells of processes that are no rank's
 * @param surelyOurs what ranks hold at least: what the driver tells of their processes, else what they said
 * @param least what is foreign at least, as long as each rank keeps within its ceiling
 * @param most what is foreign at most: {@code used - surelyOurs}, rounded up to a step
 * @param isSettled whether each rank has said lately what it holds. Where not, it may have grown since, and
 *     {@code most} would count that as a stranger's
 */
public record ForeignBounds(
        MemoryBytes used,
        MemoryBytes listed,
        MemoryBytes surelyOurs,
        MemoryBytes least,
        MemoryBytes most,
        boolean isSettled) {

    /** A rank's word is given at most once a second and read at most once a second. */
    static final long FRESH_WORD_MILLIS = 2_000;

    /**
     * A rank on the device.
     *
     * @param held what its allocator said last; empty when it has not
     * @param ceiling what it may use at most; zero when it was given no limit yet
     * @param ageMillis since anything was heard of it
     */
    record Own(long pid, Optional<MemoryBytes> held, MemoryBytes ceiling, long ageMillis) {
        boolean isFresh() {
            return held.isPresent() && ageMillis <= FRESH_WORD_MILLIS;
        }

        /** Empty when nothing bounds it that is known. */
        Optional<MemoryBytes> most() {
            return ceiling.isZero() && held.isEmpty()
                    ? Optional.empty()
                    : Optional.of(ceiling.max(held.orElse(MemoryBytes.ZERO)));
        }
    }

    /** Those that the ledger has promised something, and those that only have said hello. */
    static List<Own> own(List<RankSample> said, Map<RankInstance, MemoryBytes> ceilings) {
        Map<RankInstance, Own> own = new TreeMap<>();
        ceilings.forEach((instance, ceiling) ->
                own.put(instance, new Own(instance.pid(), Optional.empty(), ceiling, Long.MAX_VALUE)));
        for (RankSample rank : said) {
            MemoryBytes ceiling = ceilings.getOrDefault(rank.instance(), MemoryBytes.ZERO);
            own.put(rank.instance(), new Own(rank.instance().pid(), rank.use().held(), ceiling, rank.ageMillis()));
        }
        return new ArrayList<>(own.values());
    }

    /**
     * Empty where it is not known what is in use.
     *
     * @param said what the ranks on the device say of themselves
     * @param ceilings what the ranks that its ledger knows may use at most
     */
    public static Optional<ForeignBounds> of(
            DeviceReading reading, Attribution whose, List<RankSample> said, Map<RankInstance, MemoryBytes> ceilings) {
        return reading.memory().map(memory -> of(memory, reading, whose, own(said, ceilings)));
    }

    static ForeignBounds of(MemoryUse memory, DeviceReading reading, Attribution whose, List<Own> ranks) {
        Map<Long, MemoryBytes> told = new TreeMap<>();
        MemoryBytes listed = MemoryBytes.ZERO;
        for (ProcessUse process : reading.processes().orElse(List.of())) {
            MemoryBytes amount = process.used().orElse(MemoryBytes.ZERO);
            Optional<Long> rank = Optional.ofNullable(whose.owners().get(process.pid()));
            if (rank.isPresent()) {
                told.merge(rank.get(), amount, MemoryBytes::plus);
            } else {
                listed = listed.plus(amount);
            }
        }
        Map<Long, MemoryBytes> exact = whose.useByRank(reading);
        MemoryBytes sure = MemoryBytes.ZERO;
        MemoryBytes most = MemoryBytes.ZERO;
        boolean isBounded = true;
        boolean isSettled = true;
        for (Own rank : ranks) {
            MemoryBytes tells = told.getOrDefault(rank.pid(), MemoryBytes.ZERO);
            boolean isTold = exact.containsKey(rank.pid());
            sure = sure.plus(isTold ? tells : tells.max(rank.held().orElse(MemoryBytes.ZERO)));
            most = most.plus(isTold ? tells : tells.max(rank.most().orElse(MemoryBytes.ZERO)));
            isBounded &= isTold || rank.most().isPresent();
            isSettled &= isTold || rank.isFresh();
        }
        MemoryBytes used = memory.used();
        MemoryBytes least = isBounded ? used.minusOrZero(most).max(listed) : listed;
        return new ForeignBounds(
                used,
                listed,
                sure,
                least.min(used).roundedUpTo(ForeignMemory.GRANULE),
                used.minusOrZero(sure).roundedUpTo(ForeignMemory.GRANULE),
                isSettled);
    }

    /** For people: what limits are planned with, and from what it follows. */
    public String text(MemoryBytes planned) {
        String ranks = surelyOurs.isZero() ? "" : " less the " + surelyOurs + " that its ranks hold at least";
        String basis = isSettled
                ? "the %s in use%s, lately".formatted(used, ranks)
                : "as last known, since not each rank has said lately what it holds; at most %s, the %s in use%s"
                        .formatted(most, used, ranks);
        return "what processes that are no rank's use here is not told: limits are planned with a bound of "
                + "%s for it (%s)".formatted(planned, basis);
    }
}
