package dev.ullage.coordinator.evenness;

import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankEnforcement;
import dev.ullage.common.model.RankEnforcement.Overhead;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.TurnReport;
import dev.ullage.coordinator.view.ClusterView;
import dev.ullage.coordinator.view.DeviceView;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * The ranks of one job.
 *
 * @param worldSize how many there are, where one of them says so
 * @param ranks one process of each, by rank
 */
record JobLoad(JobId job, OptionalInt worldSize, List<RankLoad> ranks) {
    JobLoad {
        ranks = List.copyOf(ranks);
    }

    /** Whether every rank of the job is there. */
    boolean isWhole() {
        return worldSize.isPresent()
                && ranks.size() == worldSize.getAsInt()
                && ranks.get(ranks.size() - 1).rank() == worldSize.getAsInt() - 1;
    }

    /**
     * The jobs with a rank that is watched, in the order of their names. Of two processes of one rank the newer counts.
     */
    static List<JobLoad> of(ClusterView view) {
        NavigableMap<JobId, NavigableMap<Integer, RankLoad>> jobs = new TreeMap<>();
        for (DeviceView device : view.devices()) {
            Map<RankInstance, GrantReport> grants = grants(device);
            List<RankSample> told =
                    device.sample().map(heard -> heard.message().ranks()).orElse(List.of());
            // A rank that is leaving has told something, and no ledger knows it any more.
            told.stream().filter(rank -> grants.containsKey(rank.instance())).forEach(rank -> jobs.computeIfAbsent(
                            rank.instance().rank().job(), job -> new TreeMap<>())
                    .merge(rank.instance().rank().rank(), load(rank, device, grants), JobLoad::newer));
        }
        List<JobLoad> loads = new ArrayList<>();
        jobs.forEach((job, ranks) -> {
            if (ranks.values().stream()
                    .anyMatch(rank -> !rank.peaks().isEmpty() || rank.batch().isPresent())) {
                OptionalInt worldSize = ranks.values().stream()
                        .flatMapToInt(rank -> rank.worldSize().stream())
                        .max();
                loads.add(new JobLoad(job, worldSize, List.copyOf(ranks.values())));
            }
        });
        return loads;
    }

    private static RankLoad newer(RankLoad one, RankLoad other) {
        return one.instance().startTicks() > other.instance().startTicks() ? one : other;
    }

    private static Map<RankInstance, GrantReport> grants(DeviceView device) {
        Map<RankInstance, GrantReport> grants = new TreeMap<>();
        device.report()
                .ifPresent(heard ->
                        heard.message().ledger().grants().forEach(grant -> grants.put(grant.instance(), grant)));
        return grants;
    }

    private static RankLoad load(RankSample rank, DeviceView device, Map<RankInstance, GrantReport> grants) {
        Map<Phase, MemoryBytes> peaks = new EnumMap<>(Phase.class);
        rank.watch().ifPresent(watch -> watch.phases()
                .forEach(peak -> peak.held().ifPresent(held -> peaks.put(peak.phase(), held))));
        Optional<MemoryBytes> usable = Optional.ofNullable(grants.get(rank.instance()))
                .flatMap(GrantReport::target)
                .map(limits -> usable(limits, rank));
        boolean takesTurns = device.report()
                .flatMap(heard -> heard.message().ledger().turns())
                .flatMap(TurnReport::plan)
                .flatMap(plan -> plan.of(rank.instance()))
                .isPresent();
        return new RankLoad(
                rank.instance(),
                rank.facts().worldSize(),
                "GPU " + device.info().index() + " of " + device.node(),
                Collections.unmodifiableMap(peaks),
                rank.watch()
                        .map(RankWatch::progress)
                        .map(RankWatch.Progress::step)
                        .orElse(OptionalLong.empty()),
                rank.watch().map(watch -> watch.progress().steps()).orElse(0L),
                rank.watch().flatMap(RankWatch::batch),
                usable,
                takesTurns);
    }

    /** What counts as its peak is its allocator's; a limit is one on the process, which uses more than that. */
    private static MemoryBytes usable(PhaseLimits limits, RankSample rank) {
        MemoryBytes limit = limits.in(Phase.FORWARD).min(limits.in(Phase.BACKWARD));
        MemoryBytes beside = rank.enforcement()
                .flatMap(RankEnforcement::overhead)
                .map(Overhead::bytes)
                .orElse(MemoryBytes.ZERO);
        return limit.minusOrZero(beside);
    }
}
