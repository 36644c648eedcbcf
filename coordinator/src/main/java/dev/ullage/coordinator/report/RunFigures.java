package dev.ullage.coordinator.report;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankAccount;
import dev.ullage.common.model.RankAccount.Memory;
import dev.ullage.common.model.RankAccount.PhaseMemory;
import dev.ullage.common.model.RankAccount.PhaseTime;
import dev.ullage.common.model.RankAccount.RoomOverTime;
import dev.ullage.common.model.RankAccount.Training;
import dev.ullage.common.model.RankWatch.Allocator;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.ToOperator.AccountOf;
import dev.ullage.common.protocol.ToOperator.Accounts;
import dev.ullage.coordinator.report.RunReport.Compute;
import dev.ullage.coordinator.report.RunReport.Loss;
import dev.ullage.coordinator.report.RunReport.OneProcess;
import dev.ullage.coordinator.report.RunReport.PhasePeak;
import dev.ullage.coordinator.report.RunReport.PhaseShare;
import dev.ullage.coordinator.report.RunReport.Scope;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/** Works out a {@link RunReport} from what the processes of a job have come to. Pure. */
public final class RunFigures {
    private static final double MILLIS = 1_000;
    private static final double MILLION = 1_000_000;

    private final Accounts accounts;
    private final List<AccountOf> all;
    /** Those that said something. */
    private final List<RankAccount> heard;

    private final List<Training> trainings;

    private RunFigures(Accounts accounts) {
        this.accounts = accounts;
        this.all = accounts.ranks();
        this.heard = all.stream()
                .map(AccountOf::account)
                .filter(one -> !isSilent(one))
                .toList();
        this.trainings = heard.stream().flatMap(one -> one.training().stream()).toList();
    }

    private static boolean isSilent(RankAccount account) {
        Memory memory = account.memory();
        return account.training().isEmpty()
                && memory.allocator().isEmpty()
                && memory.peak().isEmpty();
    }

    /**
     * @param accounts of one process or more
     * @param price empty: nothing is reckoned in money
     */
    public static RunReport of(Accounts accounts, Optional<Price> price) {
        if (accounts.ranks().isEmpty()) {
            throw new IllegalArgumentException("a report is about one process or more");
        }
        RunFigures figures = new RunFigures(accounts);
        Compute compute = figures.compute();
        RoomFigures room =
                RoomFigures.of(figures.all.stream().map(AccountOf::account).toList(), figures.heard, compute.steps());
        return new RunReport(
                figures.scope(),
                figures.memory(),
                compute,
                figures.loss(),
                room.room(),
                price.map(room::cost),
                figures.all.stream().map(RunFigures::process).toList());
    }

    private Scope scope() {
        boolean isRunning =
                all.stream().anyMatch(one -> one.account().endedAgoMillis().isEmpty());
        return new Scope(
                isRunning,
                (int) all.stream()
                        .map(one -> one.account().instance().rank())
                        .distinct()
                        .count(),
                all.stream()
                        .flatMapToInt(one -> one.account().worldSize().stream())
                        .max(),
                (int) all.stream().map(AccountOf::node).distinct().count(),
                (int) all.stream().map(one -> one.account().device()).distinct().count(),
                all.size() - heard.size(),
                accounts.leftOut(),
                all.stream()
                        .mapToLong(one -> one.account().beganAgoMillis())
                        .max()
                        .orElse(0),
                isRunning
                        ? OptionalLong.empty()
                        : all.stream()
                                .flatMapToLong(one -> one.account().endedAgoMillis().stream())
                                .min());
    }

    // ---- memory

    private RunReport.Memory memory() {
        List<RoomOverTime> rooms =
                heard.stream().flatMap(one -> one.memory().room().stream()).toList();
        List<Allocator> allocators =
                heard.stream().flatMap(one -> one.memory().allocator().stream()).toList();
        OptionalDouble latency =
                ratio(sum(trainings, one -> one.latency().micros()), sum(trainings, one -> one.latency()
                        .allocations()));
        return new RunReport.Memory(
                ratio(total(rooms, RoomOverTime::used), total(rooms, RoomOverTime::promised)),
                allocators.stream()
                        .flatMap(one -> one.fragmentation().stream())
                        .mapToDouble(RunFigures::part)
                        .average(),
                heard.stream()
                        .flatMap(one -> one.memory().highestFragmentation().stream())
                        .mapToDouble(RunFigures::part)
                        .max(),
                latency,
                sum(allocators, Allocator::retries),
                sum(allocators, Allocator::refusals),
                phases());
    }

    private static double part(Share share) {
        return share.basisPoints() / (double) Share.ONE_IN_BASIS_POINTS;
    }

    private List<PhasePeak> phases() {
        Map<Phase, PhasePeak> highest = new EnumMap<>(Phase.class);
        for (AccountOf one : all) {
            for (PhaseMemory memory : one.account().memory().phases()) {
                PhasePeak peak = new PhasePeak(
                        memory.phase(),
                        one.account().instance().rank().rank(),
                        memory.peak(),
                        one.planned().map(limits -> limits.in(memory.phase())),
                        memory.limit());
                highest.merge(memory.phase(), peak, RunFigures::higher);
            }
        }
        return new ArrayList<>(highest.values());
    }

    private static PhasePeak higher(PhasePeak first, PhasePeak second) {
        boolean isSecond = second.peak().isPresent()
                && (first.peak().isEmpty()
                        || second.peak().get().isMoreThan(first.peak().get()));
        return isSecond ? second : first;
    }

    // ---- compute

    private Compute compute() {
        Map<Integer, Long> stepsByRank = new TreeMap<>();
        heard.forEach(one -> one.training()
                .ifPresent(training -> stepsByRank.merge(one.instance().rank().rank(), training.steps(), Long::sum)));
        OptionalLong steps =
                stepsByRank.values().stream().mapToLong(Long::longValue).max();
        double seconds =
                trainings.stream().mapToDouble(RunFigures::trainingSeconds).sum();
        double perRank = stepsByRank.isEmpty() ? 0 : seconds / stepsByRank.size();
        OptionalLong samples = sum(trainings, Training::samples);
        OptionalLong turns = sum(trainings, one -> one.waits().turnMillis());
        OptionalLong limits = sum(trainings, one -> one.waits().limitMillis());
        double elapsed = trainings.stream().mapToLong(Training::elapsedMillis).sum();
        OptionalLong flops = sum(trainings, Training::megaflopsPerStep);
        double done = trainings.stream()
                .mapToDouble(one -> one.megaflopsPerStep().orElse(0) * MILLION * one.steps())
                .sum();
        return new Compute(
                steps,
                stepsByRank.isEmpty()
                        ? OptionalDouble.empty()
                        : over(trainings.stream().mapToLong(Training::steps).sum(), seconds),
                samples,
                samples.isEmpty() ? OptionalDouble.empty() : over(samples.getAsLong(), perRank),
                phaseShares(),
                turns.isEmpty() || limits.isEmpty()
                        ? OptionalDouble.empty()
                        : over(turns.getAsLong() + limits.getAsLong(), elapsed),
                turns,
                limits,
                flops.isEmpty() ? OptionalDouble.empty() : over(done, perRank),
                flops.isEmpty() ? OptionalDouble.empty() : flopsPerByte());
    }

    private OptionalDouble flopsPerByte() {
        List<RankAccount> known = heard.stream()
                .filter(one -> one.training()
                        .filter(training -> training.megaflopsPerStep().isPresent())
                        .isPresent())
                .toList();
        if (known.stream().anyMatch(one -> one.memory().peak().isEmpty())) {
            return OptionalDouble.empty();
        }
        double operations = known.stream()
                .mapToDouble(
                        one -> one.training().orElseThrow().megaflopsPerStep().orElseThrow() * MILLION)
                .sum();
        double bytes = known.stream()
                .mapToDouble(one -> one.memory().peak().orElseThrow().value())
                .sum();
        return over(operations, bytes);
    }

    private List<PhaseShare> phaseShares() {
        Map<Phase, Long> millis = new EnumMap<>(Phase.class);
        trainings.forEach(
                one -> one.phases().times().forEach(time -> millis.merge(time.phase(), time.millis(), Long::sum)));
        double whole = millis.values().stream().mapToLong(Long::longValue).sum();
        List<PhaseShare> shares = new ArrayList<>();
        millis.forEach((phase, time) -> shares.add(new PhaseShare(phase, time, whole == 0 ? 0 : time / whole)));
        return List.copyOf(shares);
    }

    /** Without the time before the first step, in which a program loads its model and its data. */
    private static double trainingSeconds(Training training) {
        long init = training.phases().times().stream()
                .filter(time -> time.phase() == Phase.INIT)
                .mapToLong(PhaseTime::millis)
                .sum();
        return Math.max(0, training.elapsedMillis() - init) / MILLIS;
    }

    // ---- loss and processes

    private Loss loss() {
        long leftOut =
                trainings.stream().mapToLong(one -> one.losses().leftOut()).sum();
        return heard.stream()
                .filter(one -> one.training()
                        .filter(training -> !training.losses().points().isEmpty())
                        .isPresent())
                .findFirst()
                .map(one -> new Loss(
                        OptionalInt.of(one.instance().rank().rank()),
                        one.training().orElseThrow().losses().points(),
                        leftOut))
                .orElseGet(() -> new Loss(OptionalInt.empty(), List.of(), leftOut));
    }

    private static OneProcess process(AccountOf one) {
        RankAccount account = one.account();
        Optional<Training> training = account.training();
        return new OneProcess(
                account.instance().rank().rank(),
                account.instance().pid(),
                one.node().value(),
                account.device().value(),
                account.endedAgoMillis().isEmpty(),
                account.memory().peak(),
                account.memory().phases().stream()
                        .flatMap(phase -> phase.limit().stream())
                        .reduce(MemoryBytes::max),
                account.memory()
                        .room()
                        .map(room -> over(room.used(), room.promised()))
                        .orElse(OptionalDouble.empty()),
                training.map(known -> OptionalLong.of(known.steps())).orElse(OptionalLong.empty()),
                training.map(known -> over(known.steps(), trainingSeconds(known)))
                        .orElse(OptionalDouble.empty()),
                training.map(RunFigures::waitShare).orElse(OptionalDouble.empty()));
    }

    private static OptionalDouble waitShare(Training training) {
        OptionalLong turns = training.waits().turnMillis();
        OptionalLong limits = training.waits().limitMillis();
        return turns.isEmpty() || limits.isEmpty()
                ? OptionalDouble.empty()
                : over(turns.getAsLong() + limits.getAsLong(), training.elapsedMillis());
    }

    // ---- arithmetic

    /** Known when there is one or more, and each is. */
    private static <T> OptionalLong sum(List<T> parts, Function<T, OptionalLong> amount) {
        List<OptionalLong> amounts = parts.stream().map(amount).toList();
        return amounts.isEmpty() || amounts.stream().anyMatch(OptionalLong::isEmpty)
                ? OptionalLong.empty()
                : OptionalLong.of(
                        amounts.stream().mapToLong(OptionalLong::getAsLong).sum());
    }

    private static <T> OptionalLong total(List<T> parts, ToLongFunction<T> amount) {
        return sum(parts, part -> OptionalLong.of(amount.applyAsLong(part)));
    }

    private static OptionalDouble ratio(OptionalLong part, OptionalLong whole) {
        return part.isPresent() && whole.isPresent()
                ? over(part.getAsLong(), whole.getAsLong())
                : OptionalDouble.empty();
    }

    /** Of nothing there is no part. */
    private static OptionalDouble over(Number part, Number whole) {
        return whole.doubleValue() > 0
                ? OptionalDouble.of(part.doubleValue() / whole.doubleValue())
                : OptionalDouble.empty();
    }
}
