package dev.ullage.coordinator.report;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankAccount;
import dev.ullage.common.model.RankAccount.Losses;
import dev.ullage.common.model.RankAccount.Training;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.RankAccounts;
import dev.ullage.common.protocol.ToCoordinator.JobsReported;
import dev.ullage.common.protocol.ToOperator.AccountOf;
import dev.ullage.common.protocol.ToOperator.Accounts;
import dev.ullage.coordinator.planning.DevicePlan;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * What the processes of the last jobs have come to, as their workers tell. One owner, not thread safe. Soft: the
 * workers keep the accounts and tell them again, so a new coordinator has them after some rounds; only what the plans
 * were while a process lived is this coordinator's own.
 *
 * <p>Bounded: at most {@value #MAX_JOBS} jobs and {@value #MAX_PROCESSES} processes; the job that has been quiet for
 * longest goes first, and comes back no more while others are newer.
 */
public final class JobAccounts {
    static final int MAX_JOBS = 200;
    static final int MAX_PROCESSES = 8_192;
    static final int MAX_TOLD = 512;

    private record Heard(NodeId node, RankAccount account, Optional<PhaseLimits> planned, Instant at) {
        RankAccount at(Instant now) {
            return account.later(Math.max(0, Duration.between(at, now).toMillis()));
        }

        /** When it last did anything. */
        Instant active() {
            OptionalLong ended = account.endedAgoMillis();
            return ended.isPresent() ? at.minusMillis(ended.getAsLong()) : at;
        }
    }

    private final NavigableMap<JobId, NavigableMap<RankInstance, Heard>> jobs = new TreeMap<>();
    private int processes;

    /**
     * A worker has told some accounts.
     *
     * @param plans the newest plan of a device
     */
    public void observe(JobsReported reported, Function<DeviceId, Optional<DevicePlan>> plans, Instant now) {
        for (RankAccount account :
                reported.accounts().map(RankAccounts::accounts).orElse(List.of())) {
            put(reported.node(), account, plans, now);
        }
        while (jobs.size() > MAX_JOBS || (processes > MAX_PROCESSES && jobs.size() > 1)) {
            quietest().ifPresent(this::drop);
        }
    }

    private void put(NodeId node, RankAccount account, Function<DeviceId, Optional<DevicePlan>> plans, Instant now) {
        JobId job = account.instance().rank().job();
        NavigableMap<RankInstance, Heard> ranks = jobs.computeIfAbsent(job, name -> new TreeMap<>());
        Heard before = ranks.get(account.instance());
        if (before == null && ranks.size() >= MAX_PROCESSES) {
            return;
        }
        Optional<PhaseLimits> planned = account.endedAgoMillis().isPresent()
                ? Optional.empty()
                : plans.apply(account.device()).flatMap(plan -> limits(plan, account.instance()));
        Heard heard =
                new Heard(node, account, planned.or(() -> before == null ? Optional.empty() : before.planned()), now);
        ranks.put(account.instance(), heard);
        processes += before == null ? 1 : 0;
    }

    private static Optional<PhaseLimits> limits(DevicePlan plan, RankInstance instance) {
        return plan.limits().stream()
                .filter(limit -> limit.instance().equals(instance))
                .map(DevicePlan.PlannedLimit::limits)
                .findFirst();
    }

    private Optional<JobId> quietest() {
        return jobs.entrySet().stream()
                .min(Comparator.comparing(entry -> lastActive(entry.getValue())))
                .map(Map.Entry::getKey);
    }

    private static Instant lastActive(NavigableMap<RankInstance, Heard> ranks) {
        return ranks.values().stream()
                .map(Heard::active)
                .max(Comparator.naturalOrder())
                .orElse(Instant.MIN);
    }

    private void drop(JobId job) {
        NavigableMap<RankInstance, Heard> gone = jobs.remove(job);
        processes -= gone == null ? 0 : gone.size();
    }

    /** What is known of a job. Of many ranks only one brings its loss along. */
    public Accounts of(JobId job, Instant now) {
        NavigableMap<RankInstance, Heard> ranks = jobs.getOrDefault(job, new TreeMap<>());
        List<AccountOf> told = new ArrayList<>();
        boolean hasLosses = false;
        for (Heard heard : ranks.values()) {
            if (told.size() == MAX_TOLD) {
                break;
            }
            RankAccount account = heard.at(now);
            told.add(new AccountOf(heard.node(), hasLosses ? withoutLosses(account) : account, heard.planned()));
            hasLosses |= account.training().filter(JobAccounts::hasLosses).isPresent();
        }
        List<JobId> others = jobs.entrySet().stream()
                .filter(entry -> !entry.getKey().equals(job))
                .sorted(Comparator.<Map.Entry<JobId, NavigableMap<RankInstance, Heard>>, Instant>comparing(
                                entry -> lastActive(entry.getValue()))
                        .reversed())
                .limit(20)
                .map(Map.Entry::getKey)
                .toList();
        return new Accounts(told, ranks.size() - told.size(), others);
    }

    private static boolean hasLosses(Training training) {
        return !training.losses().points().isEmpty();
    }

    private static RankAccount withoutLosses(RankAccount account) {
        return account.withTraining(account.training()
                .map(all -> new Training(
                        all.elapsedMillis(),
                        all.steps(),
                        all.samples(),
                        all.megaflopsPerStep(),
                        all.phases(),
                        all.waits(),
                        all.latency(),
                        new Losses(List.of(), all.losses().leftOut()))));
    }
}
