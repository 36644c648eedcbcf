package dev.ullage.coordinator.planning;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankEnforcement;
import dev.ullage.common.model.RankEnforcement.Overhead;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.RankWatch.Batches;
import dev.ullage.common.model.RankWatch.Work;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.coordinator.planning.RankDemands.Demand;
import dev.ullage.coordinator.view.DeviceView;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * What a rank's newest sample says of it; each part may be unknown by itself. Soft: a policy that looks at it must say
 * what it does without.
 *
 * @param worldSize ranks of its job
 * @param step how far its training is
 * @param held what its allocator holds now
 * @param peakReserved the most its allocator ever held, over all phases
 * @param refusals requests its allocator turned away because of the limit
 * @param watch what its last steps did, phase by phase; without what only people look at
 * @param demand what it will need by its use over time, when it counts no steps and the settings want that
 * @param beside what its process uses beside its allocator; empty where nothing is assumed
 */
public record RankObserved(
        OptionalInt worldSize,
        OptionalLong step,
        Optional<MemoryBytes> held,
        Optional<MemoryBytes> peakReserved,
        long refusals,
        Optional<RankWatch> watch,
        Optional<Demand> demand,
        Optional<MemoryBytes> beside) {
    public static final RankObserved NOTHING =
            new RankObserved(OptionalInt.empty(), OptionalLong.empty(), Optional.empty(), Optional.empty(), 0);

    /** Of a rank that is not watched. */
    public RankObserved(
            OptionalInt worldSize,
            OptionalLong step,
            Optional<MemoryBytes> held,
            Optional<MemoryBytes> peakReserved,
            long refusals) {
        this(worldSize, step, held, peakReserved, refusals, Optional.empty(), Optional.empty());
    }

    /** Of a rank of whose process nothing is known beside its allocator. */
    public RankObserved(
            OptionalInt worldSize,
            OptionalLong step,
            Optional<MemoryBytes> held,
            Optional<MemoryBytes> peakReserved,
            long refusals,
            Optional<RankWatch> watch,
            Optional<Demand> demand) {
        this(worldSize, step, held, peakReserved, refusals, watch, demand, Optional.empty());
    }

    /** Of a rank whose demand nobody follows. */
    public RankObserved(
            OptionalInt worldSize,
            OptionalLong step,
            Optional<MemoryBytes> held,
            Optional<MemoryBytes> peakReserved,
            long refusals,
            Optional<RankWatch> watch) {
        this(worldSize, step, held, peakReserved, refusals, watch, Optional.empty());
    }

    public static RankObserved of(RankSample sample) {
        return new RankObserved(
                sample.facts().worldSize(),
                sample.activity().step(),
                sample.use().held(),
                sample.use().peakReserved(),
                sample.use().refusals(),
                sample.watch().map(RankObserved::forPolicies),
                Optional.empty(),
                sample.enforcement().flatMap(RankEnforcement::overhead).map(Overhead::bytes));
    }

    /** Of every rank that the newest sample of the device tells of. */
    static NavigableMap<RankInstance, RankObserved> of(DeviceView device) {
        NavigableMap<RankInstance, RankObserved> observed = new TreeMap<>();
        if (device.sample().isPresent()) {
            for (RankSample rank : device.sample().get().message().ranks()) {
                observed.put(rank.instance(), of(rank));
            }
        }
        return observed;
    }

    RankObserved with(Optional<Demand> newDemand) {
        return new RankObserved(worldSize, step, held, peakReserved, refusals, watch, newDemand, beside);
    }

    /** A decision is recorded with all it was made from: what no policy may look at needs no room there. */
    private static RankWatch forPolicies(RankWatch watch) {
        return new RankWatch(
                watch.progress(),
                watch.phases(),
                watch.allocator(),
                watch.leak(),
                List.of(),
                Optional.empty(),
                Work.of(Batches.of(Optional.empty(), watch.microBatches()), watch.lingering()));
    }
}
