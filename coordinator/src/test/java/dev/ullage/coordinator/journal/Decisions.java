package dev.ullage.coordinator.journal;

import static dev.ullage.coordinator.Fixtures.DEVICE;
import static dev.ullage.coordinator.Fixtures.T0;
import static dev.ullage.coordinator.Fixtures.TOKEN;
import static dev.ullage.coordinator.Fixtures.gib;
import static dev.ullage.coordinator.Fixtures.rank;
import static dev.ullage.coordinator.Fixtures.terms;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.Share;
import dev.ullage.config.FixedLimit;
import dev.ullage.config.JobTerms;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.PolicyName;
import dev.ullage.coordinator.decisions.Decision;
import dev.ullage.coordinator.decisions.DecisionBook;
import dev.ullage.coordinator.decisions.PlannerSettings;
import dev.ullage.coordinator.planning.DeviceInput;
import dev.ullage.coordinator.planning.DeviceInput.RankInput;
import dev.ullage.coordinator.planning.DeviceTarget;
import dev.ullage.coordinator.planning.LimitPlanner;
import dev.ullage.coordinator.planning.LimitPlanner.Decided;
import dev.ullage.coordinator.planning.RankObserved;
import dev.ullage.coordinator.planning.RankRequest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** Decisions to write down. */
final class Decisions {
    static final Duration STALE_AFTER = Duration.ofSeconds(5);

    private static final JobTerms MODEST =
            new JobTerms(PolicyName.RANK_SHARE, Priority.MEDIUM, Optional.empty(), FixedLimit.of(gib(12)));

    private Decisions() {}

    /** Two ranks join a device of 80 GiB: 32 GiB each. By the policy fixed the first would have 12 GiB. */
    static Decision plan() {
        DeviceInput input = new DeviceInput(
                DEVICE,
                terms(gib(80), MemoryBytes.ZERO),
                false,
                new DeviceTarget(Share.ofPercent(20), new TreeMap<>(), Optional.empty(), false),
                Duration.ofMillis(120),
                Optional.empty(),
                List.of(
                        new RankInput(new RankRequest(rank(0), Share.ALL, MODEST, RankObserved.NOTHING), false),
                        new RankInput(new RankRequest(rank(1), Share.ALL), false)),
                Optional.empty(),
                Optional.empty());
        LimitSettings limits = LimitSettings.defaults();
        Decided decided =
                new Decided(input, LimitPlanner.of(STALE_AFTER, limits).decide(input));
        return new DecisionBook(PlannerSettings.of(STALE_AFTER, limits)).planned(decided, 1, TOKEN, T0);
    }
}
