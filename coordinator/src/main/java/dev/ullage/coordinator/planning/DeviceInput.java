package dev.ullage.coordinator.planning;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.SampleState;
import dev.ullage.coordinator.planning.TurnPlanner.TurnRuling;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * All that one device's plan follows from, beside the settings: what operators wished is worked into it. Whoever has it
 * can decide again and must come to the same.
 *
 * @param terms with the reserve that is desired, not the one in force
 * @param overBudget whether the ranks may hold more than the ledger's budget
 * @param before what was last asked of the device
 * @param reportAge age of the ledger's report it rests on
 * @param sample what its worker says of the readings; empty when it has not said
 * @param ranks in the order of their names; never changed
 * @param ruling what was ruled about turns, with an eye to other devices; empty: it changes nothing here
 * @param room what is kept of the device, or wanted; empty: nothing, as in records from before there was any
 */
public record DeviceInput(
        DeviceId device,
        BudgetTerms terms,
        boolean overBudget,
        DeviceTarget before,
        Duration reportAge,
        Optional<SampleState> sample,
        List<RankInput> ranks,
        Optional<TurnRuling> ruling,
        Optional<KeptRoom> room) {

    DeviceInput ruled(TurnRuling turns) {
        return new DeviceInput(device, terms, overBudget, before, reportAge, sample, ranks, Optional.of(turns), room);
    }

    /** The same at another time: when nothing of it but ages has changed. */
    DeviceInput at(Duration newReportAge, Optional<SampleState> newSample) {
        return new DeviceInput(device, terms, overBudget, before, newReportAge, newSample, ranks, ruling, room);
    }

    /**
     * Without what no limit follows from, neither with turns nor without: how old and good readings are is the guards'
     * business, and what ranks do matters where their policy looks at it, or somebody else wants their room.
     */
    DeviceInput forLimits() {
        boolean areAllLookedAt = room.flatMap(KeptRoom::wanted).isPresent();
        List<RankInput> looked = new ArrayList<>(ranks.size());
        for (RankInput rank : ranks) {
            boolean isLookedAt =
                    areAllLookedAt || rank.request().terms().policy().looksAtRanks();
            looked.add(
                    new RankInput(isLookedAt ? rank.request() : rank.request().unobserved(), true));
        }
        return new DeviceInput(
                device, terms, overBudget, before, Duration.ZERO, Optional.empty(), looked, ruling, room);
    }

    /**
     * One rank of the device.
     *
     * @param isSeen whether a sample tells of it
     */
    public record RankInput(RankRequest request, boolean isSeen) {}

    List<RankRequest> requests() {
        return ranks.stream().map(RankInput::request).toList();
    }

    /** The limits that an operator set. */
    NavigableMap<RankInstance, MemoryBytes> setLimits() {
        NavigableMap<RankInstance, MemoryBytes> set = new TreeMap<>();
        for (RankInput rank : ranks) {
            rank.request().limit().ifPresent(limit -> set.put(rank.request().instance(), limit));
        }
        return set;
    }

    /** The ranks that no sample tells of although what they do says what limits or turns they get. */
    List<RankInstance> unseen() {
        List<RankInstance> unseen = new ArrayList<>();
        for (RankInput rank : ranks) {
            boolean isLookedAt = rank.request().terms().policy().looksAtRanks()
                    || rank.request().seen().isPresent();
            if (isLookedAt && !rank.isSeen()) {
                unseen.add(rank.request().instance());
            }
        }
        return unseen;
    }
}
