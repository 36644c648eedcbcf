package dev.ullage.coordinator.planning;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.SampleState;
import dev.ullage.coordinator.planning.TurnPlanner.TurnRuling;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

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

    /** Of a device of which nothing is kept. */
    public DeviceInput(
            DeviceId device,
            BudgetTerms terms,
            boolean overBudget,
            DeviceTarget before,
            Duration reportAge,
            Optional<SampleState> sample,
            List<RankInput> ranks,
            Optional<TurnRuling> ruling) {
        this(device, terms, overBudget, before, reportAge, sample, ranks, ruling, Optional.empty());
    }

    DeviceInput ruled(TurnRuling turns) {
        return new DeviceInput(device, terms, overBudget, before, reportAge, sample, ranks, Optional.of(turns), room);
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

    /** The ranks that no sample tells of although the policies of their jobs look at what ranks do. */
    List<RankInstance> unseen() {
        return ranks.stream()
                .filter(rank ->
                        !rank.isSeen() && rank.request().terms().policy().looksAtRanks())
                .map(rank -> rank.request().instance())
                .toList();
    }
}
