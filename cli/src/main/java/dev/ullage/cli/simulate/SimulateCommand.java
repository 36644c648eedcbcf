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
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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

    @Option(names = "--chart", paramLabel = "FILE", description = "Also draw the result into this file (SVG).")
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
        if (nodes == null) {
            throw usage("--nodes is missing");
        }
        if (load.isAsked()) {
            return underLoad(nodes, kinds);
        }
        load.refusal().ifPresent(reason -> {
            throw usage(reason);
        });
        List<PolicyResult> results = replay(read(nodes), kinds);
        PublishedRows published = PublishedRows.read();
        environment
                .out()
                .print(
                        json
                                ? AllocationJson.of(results, published, firstSeed) + "\n"
                                : AllocationTable.render(results, published, environment.terminal()));
        environment.out().flush();
        if (chart != null) {
            write(chart, AllocationChart.of(results));
        }
        return ExitCode.OK.code();
    }

    private String defaults() {
        return load.isAsked() ? PolicyKind.FILL.label() : POLICIES;
    }

    private int underLoad(Path nodeFile, List<PolicyKind> kinds) throws CommandFailure {
        if (chart != null) {
            throw usage("--chart draws how full devices get as jobs arrive; there is no chart with --load");
        }
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
        ProgressBar progress =
                new ProgressBar(environment.err(), environment.terminal().isInteractive(), "runs", count);
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

    /** All of it or nothing: a reader never meets half a file. */
    private static void write(Path file, String text) throws CommandFailure {
        try {
            Path target = file.toAbsolutePath();
            Path folder = target.getParent() == null ? target : target.getParent();
            // Not a temporary file of the library, which only its owner may read: this one has the mode of any new
            // file.
            Path part = folder.resolve("%s.%d.part"
                    .formatted(target.getFileName(), ProcessHandle.current().pid()));
            try {
                Files.writeString(part, text, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
                Files.move(part, target, StandardCopyOption.REPLACE_EXISTING);
            } finally {
                Files.deleteIfExists(part);
            }
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.FAILED, "the chart cannot be written to %s: %s".formatted(file, e), e);
        }
    }

    private ParameterException usage(String message) {
        if (spec == null) {
            throw new IllegalStateException("not made by the command line");
        }
        return new ParameterException(spec.commandLine(), message);
    }
}
