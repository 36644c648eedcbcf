package dev.ullage.cli.page;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.RankWatch.PhasePeak;
import dev.ullage.common.protocol.Evenness;
import dev.ullage.common.protocol.Evenness.FarDevice;
import dev.ullage.common.protocol.Evenness.JobEvenness;
import dev.ullage.common.protocol.Evenness.MoveSuggestion;
import dev.ullage.common.protocol.Evenness.PhaseSkew;
import dev.ullage.common.protocol.Evenness.ShareProposal;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToOperator.DeviceStatus;
import dev.ullage.common.protocol.ToOperator.NodeStatus;
import dev.ullage.common.protocol.ToOperator.SampleStatus;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Stream;

/** What the ranks of a {@link BigCluster} held in each phase, and what a coordinator would find uneven in it. */
final class BigLoad {
    /** The number of the device whose rank holds far more than the others of its job. */
    static final int HEAVY = 197;
    /** The number of the device whose rank has told nothing. */
    static final int SILENT = 710;

    private static final int MEAN = 3_390;
    private static final List<Phase> WATCHED = List.of(Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER);

    private BigLoad() {}

    /** @param number of the device; of {@value #SILENT} nothing is known */
    static List<PhasePeak> peaks(int number) {
        return number == SILENT
                ? List.of()
                : WATCHED.stream()
                        .map(phase -> new PhasePeak(phase, Optional.of(peak(number, phase)), Optional.empty()))
                        .toList();
    }

    private static MemoryBytes peak(int number, Phase phase) {
        long mebibytes =
                switch (phase) {
                    case FORWARD -> 23_000 + number * 37L % 2_600;
                    case BACKWARD -> 31_000 + number * 53L % 3_400 + (number == 448 ? 7_000 : 0);
                    default -> 20_500 + number * 11L % 400;
                };
        return MemoryBytes.ofMebibytes(number == HEAVY && phase != Phase.OPTIMIZER ? mebibytes + 24_000 : mebibytes);
    }

    static Evenness of(List<NodeStatus> nodes) {
        NavigableMap<JobId, List<RankSample>> jobs = new TreeMap<>(Comparator.comparing(JobId::value));
        List<FarDevice> far = new ArrayList<>();
        for (NodeStatus node : nodes) {
            for (DeviceStatus device : node.devices()) {
                List<RankSample> ranks =
                        device.sample().map(SampleStatus::ranks).orElse(List.of());
                ranks.forEach(
                        rank -> jobs.computeIfAbsent(rank.instance().rank().job(), job -> new ArrayList<>())
                                .add(rank));
                if (ranks.isEmpty() || isHeavy(ranks.get(0))) {
                    far.add(new FarDevice(node.node(), device.info().id(), ranks.isEmpty() ? 0 : 7_180, MEAN));
                }
            }
        }
        List<JobEvenness> found = new ArrayList<>();
        jobs.forEach((job, ranks) -> found.add(job(job, ranks)));
        return new Evenness("suggest", found, far, moves(far));
    }

    private static boolean isHeavy(RankSample rank) {
        return rank.instance().pid() == 1_000 + HEAVY;
    }

    private static JobEvenness job(JobId job, List<RankSample> ranks) {
        int world = ranks.get(0).facts().worldSize().orElseThrow();
        boolean isUneven = ranks.stream().anyMatch(BigLoad::isHeavy);
        List<PhaseSkew> skews = ranks.size() < world
                ? List.of()
                : WATCHED.stream().flatMap(phase -> skew(ranks, phase).stream()).toList();
        List<Integer> samples = isUneven ? Collections.nCopies(world, 8) : List.of();
        return new JobEvenness(
                job,
                isUneven,
                skews,
                samples,
                isUneven ? Optional.of(new ShareProposal(shares(samples), 1, 8_900, 6_100)) : Optional.empty(),
                isUneven
                        ? "batch 408 as 6 to 9 instead of 8 each, each at once: the fullest rank is 4 (GPU 5 of"
                                + " gpu-024), at 89 % of what it can hold, and would be at 61 % or less"
                        : skews.isEmpty()
                                ? ranks.size() + " of " + world + " ranks are known"
                                : "no rank takes batch shares");
    }

    private static List<Integer> shares(List<Integer> now) {
        List<Integer> shares = new ArrayList<>(now);
        shares.set(4, 6);
        shares.set(7, 9);
        shares.set(9, 9);
        return shares;
    }

    private static Optional<PhaseSkew> skew(List<RankSample> ranks, Phase phase) {
        List<RankSample> told = ranks.stream()
                .filter(rank -> held(rank, phase).findAny().isPresent())
                .sorted(Comparator.comparing(rank -> held(rank, phase).findAny().orElseThrow()))
                .toList();
        if (told.size() < ranks.size()) {
            return Optional.empty();
        }
        MemoryBytes median = held(told.get(told.size() / 2), phase).findAny().orElseThrow();
        RankSample largest = told.get(told.size() - 1);
        MemoryBytes most = held(largest, phase).findAny().orElseThrow();
        return Optional.of(new PhaseSkew(
                phase,
                Math.toIntExact(most.value() * 100 / median.value()),
                largest.instance().rank().rank(),
                most,
                median));
    }

    private static Stream<MemoryBytes> held(RankSample rank, Phase phase) {
        return rank.watch().map(RankWatch::phases).orElse(List.of()).stream()
                .filter(peak -> peak.phase() == phase)
                .flatMap(peak -> peak.held().stream());
    }

    private static List<MoveSuggestion> moves(List<FarDevice> far) {
        Optional<DeviceId> free = far.stream()
                .filter(device -> device.fillBasisPoints() == 0)
                .map(FarDevice::device)
                .findFirst();
        return far.stream()
                .filter(device -> device.fillBasisPoints() > 0)
                .flatMap(full -> free.stream().map(to -> move(full, to)))
                .toList();
    }

    private static MoveSuggestion move(FarDevice full, DeviceId to) {
        return new MoveSuggestion(
                new RankId(new JobId("train-3"), 4),
                full.device(),
                to,
                peak(HEAVY, Phase.BACKWARD),
                full.fillBasisPoints(),
                5_900,
                full.meanBasisPoints(),
                full.meanBasisPoints() - 13,
                "rank train-3/4 to another device");
    }

    /** Nothing else about them is worth a word. */
    static RankWatch watch(int number, RankWatch.Leak leak) {
        return new RankWatch(
                new RankWatch.Progress(OptionalLong.of(500), OptionalLong.empty(), 100),
                peaks(number),
                new RankWatch.Allocator(
                        OptionalLong.empty(),
                        OptionalLong.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        OptionalLong.empty(),
                        OptionalLong.empty()),
                leak,
                List.of(),
                Optional.empty());
    }

    /** Of a rank's place in its job: the others hold no rank. */
    static OptionalInt rankOf(int number, int jobSize) {
        int first = number / jobSize * jobSize;
        return number % 5 == 4 ? OptionalInt.empty() : OptionalInt.of(before(number) - before(first));
    }

    /** Ranks of the job that a device belongs to. */
    static int worldOf(int number, int jobSize) {
        int first = number / jobSize * jobSize;
        return before(first + jobSize) - before(first);
    }

    private static int before(int number) {
        return number - number / 5;
    }
}
