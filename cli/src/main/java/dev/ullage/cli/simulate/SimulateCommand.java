package dev.ullage.cli.simulate;

import dev.ullage.cli.CliEnvironment;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.cli.show.AllocationTable;
import dev.ullage.cli.show.LoadTable;
import dev.ullage.cli.simulate.TraceFiles.TraceException;
import dev.ullage.coordinator.planning.balance.PolicyKind;
import dev.ullage.coordinator.planning.balance.RequestMix;
import dev.ullage.coordinator.simulation.AllocationCurve;
import dev.ullage.coordinator.simulation.ArrivalProtocol;
import dev.ullage.coordinator.simulation.LoadResult;
import dev.ullage.coordinator.simulation.PolicyResult;
import dev.ullage.coordinator.simulation.Workload;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code ullage simulate}: a trace through the placement policies, with no cluster running. */
@Command(
        name = "simulate",
        description = "Replays a trace of jobs through the placement policies and shows how full the devices get.",
        footer = {
            "",
            "The files have the columns of the Alibaba GPU trace of 2023; they may be gzipped (.gz).",
            "Jobs arrive in an order shuffled by the seed until 130 %% of all devices have been asked for; nobody leaves."
                    + " Where the same run was published, its figure stands beside.",
            "With --load jobs come, wait, run as long as in the trace and leave; see docs/placement.md, \"Under load\"."
        })
public final class SimulateCommand implements Callable<Integer> {
    private static final String POLICIES = "fill,fgd,best-fit,pack,spread,random";
    private static final int MAX_SEEDS = 10_000;

    private final CliEnvironment environment;

    @Option(names = "--nodes", paramLabel = "FILE", required = true, description = "The nodes of the cluster (CSV).")
    private @Nullable Path nodes;

    @Option(
            names = "--pods",
            paramLabel = "FILE",
            required = true,
            arity = "1..*",
            description = "The jobs (CSV); each file is a workload of its own.")
    private List<Path> pods = List.of();

    @Option(
            names = "--policy",
            paramLabel = "NAME",
            split = ",",
            description = "One or more of fill, fill-offline, fgd, best-fit, pack, spread, random; all but fill-offline"
                    + " when left out. With --load one of them (default: fill).")
    private List<String> policies = List.of();

    @Mixin
    private final LoadOptions load = new LoadOptions();

    @Option(names = "--seeds", paramLabel = "N", description = "Runs of each policy (default: ${DEFAULT-VALUE}).")
    private int seeds = 10;

    @Option(names = "--seed", paramLabel = "N", description = "Seed of the first run (default: ${DEFAULT-VALUE}).")
    private long firstSeed = 1;

    @Option(names = "--chart", paramLabel = "FILE", description = "Also draw the result into this file: .svg or .png.")
    private @Nullable Path chart;

    @Option(names = "--json", description = "The result as JSON, figures in percent.")
    private boolean json;

    @Spec
    private @Nullable CommandSpec spec;

    public SimulateCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws CommandFailure {
        List<PolicyKind> kinds = kinds(policies.isEmpty() ? List.of(defaults().split(",", -1)) : policies);
        if (seeds < 1 || seeds > MAX_SEEDS) {
            throw usage("--seeds must be 1 to %d: %d".formatted(MAX_SEEDS, seeds));
        }
        if (firstSeed > Long.MAX_VALUE - seeds) {
            throw usage("--seed must be less than %d, so that there are %d from it on: %d"
                    .formatted(Long.MAX_VALUE - seeds + 1, seeds, firstSeed));
        }
        if (nodes == null) {
            throw usage("--nodes is missing");
        }
        Optional<ChartFile> picture = Optional.ofNullable(chart).map(ChartFile::new);
        picture.flatMap(ChartFile::refusal).ifPresent(reason -> {
            throw usage(reason);
        });
        if (load.isAsked()) {
            return underLoad(nodes, kinds, picture);
        }
        load.refusal().ifPresent(reason -> {
            throw usage(reason);
        });
        List<Workload> workloads = read(nodes);
        PublishedRows published = PublishedRows.of(workloads);
        List<PolicyResult> results = replay(workloads, kinds);
        published.doubts().forEach(doubt -> environment.err().println("ullage: " + doubt));
        environment
                .out()
                .print(
                        json
                                ? AllocationJson.of(results, published, firstSeed) + "\n"
                                : AllocationTable.render(results, published, environment.terminal()));
        environment.out().flush();
        if (picture.isPresent()) {
            AllocationChart drawing = new AllocationChart(results);
            picture.get().write(AllocationChart.WIDTH, drawing.height(), drawing);
        }
        return ExitCode.OK.code();
    }

    private String defaults() {
        return load.isAsked() ? PolicyKind.FILL.label() : POLICIES;
    }

    private int underLoad(Path nodeFile, List<PolicyKind> kinds, Optional<ChartFile> picture) throws CommandFailure {
        if (kinds.size() > 1) {
            throw usage("--policy must be one with --load: " + kinds);
        }
        load.refusal().ifPresent(reason -> {
            throw usage(reason);
        });
        PolicyKind policy = kinds.get(0);
        List<LoadResult> results = new LoadReplay(environment, load, policy, firstSeed, seeds).run(read(nodeFile));
        environment
                .out()
                .print(
                        json
                                ? LoadJson.of(results, load, policy, firstSeed) + "\n"
                                : LoadTable.render(results, environment.terminal()));
        environment.out().flush();
        if (picture.isPresent()) {
            LoadChart drawing = new LoadChart(results);
            picture.get().write(LoadChart.WIDTH, drawing.height(), drawing);
        }
        return ExitCode.OK.code();
    }

    private List<PolicyKind> kinds(List<String> names) {
        List<PolicyKind> kinds = new ArrayList<>();
        for (String name : names) {
            kinds.add(PolicyKind.of(name)
                    .orElseThrow(() -> usage("no placement policy \"%s\"; there are %s"
                            .formatted(
                                    name,
                                    Arrays.stream(PolicyKind.values())
                                            .map(PolicyKind::label)
                                            .collect(Collectors.joining(", "))))));
        }
        return kinds.stream().distinct().toList();
    }

    private List<Workload> read(Path nodeFile) throws CommandFailure {
        try {
            return TraceFiles.read(nodeFile, pods);
        } catch (TraceException e) {
            throw new CommandFailure(ExitCode.BAD_SETTINGS, String.valueOf(e.getMessage()), e);
        }
    }

    private List<PolicyResult> replay(List<Workload> workloads, List<PolicyKind> kinds) throws CommandFailure {
        int count = workloads.size() * kinds.size() * seeds;
        ProgressBar progress = new ProgressBar(environment.err(), environment.terminal(), "runs", count);
        List<Callable<AllocationCurve>> runs = new ArrayList<>();
        for (Workload workload : workloads) {
            RequestMix future = workload.mix();
            for (PolicyKind kind : kinds) {
                for (long seed = firstSeed; seed < firstSeed + seeds; seed++) {
                    runs.add(run(workload, future, kind, seed, progress));
                }
            }
        }
        List<AllocationCurve> curves =
                ParallelRuns.all(runs, Runtime.getRuntime().availableProcessors());
        List<PolicyResult> results = new ArrayList<>();
        for (Workload workload : workloads) {
            for (PolicyKind kind : kinds) {
                int from = results.size() * seeds;
                results.add(new PolicyResult(workload.name(), kind, curves.subList(from, from + seeds)));
            }
        }
        return results;
    }

    private static Callable<AllocationCurve> run(
            Workload workload, RequestMix future, PolicyKind kind, long seed, ProgressBar progress) {
        return () -> {
            AllocationCurve curve = ArrivalProtocol.run(workload, kind.create(future, ~seed), seed);
            progress.step(workload.name() + ", " + kind);
            return curve;
        };
    }

    private ParameterException usage(String message) {
        if (spec == null) {
            throw new IllegalStateException("not made by the command line");
        }
        return new ParameterException(spec.commandLine(), message);
    }
}
