package dev.ullage.cli.simulate;

import dev.ullage.cli.CliEnvironment;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.coordinator.planning.balance.PolicyKind;
import dev.ullage.coordinator.simulation.LoadOutcome;
import dev.ullage.coordinator.simulation.LoadResult;
import dev.ullage.coordinator.simulation.LoadRun;
import dev.ullage.coordinator.simulation.SharingMode;
import dev.ullage.coordinator.simulation.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** Runs each workload at each load in each mode with each seed, on all processors. */
final class LoadReplay {
    private final CliEnvironment environment;
    private final LoadOptions options;
    private final PolicyKind policy;
    private final long firstSeed;
    private final int seeds;

    LoadReplay(CliEnvironment environment, LoadOptions options, PolicyKind policy, long firstSeed, int seeds) {
        this.environment = environment;
        this.options = options;
        this.policy = policy;
        this.firstSeed = firstSeed;
        this.seeds = seeds;
    }

    private record Case(Workload workload, double load, SharingMode mode) {}

    List<LoadResult> run(List<Workload> workloads) throws CommandFailure {
        List<Case> cases = new ArrayList<>();
        for (Workload workload : workloads) {
            if (workload.jobs().stream()
                    .noneMatch(
                            job -> job.request().devices() > 0 && job.ranFor().isPresent())) {
                throw new CommandFailure(
                        ExitCode.BAD_SETTINGS,
                        "%s: no job with devices has both scheduled_time and deletion_time, which --load needs"
                                .formatted(workload.name()));
            }
            for (double load : options.loads()) {
                options.modes().forEach(mode -> cases.add(new Case(workload, load, mode)));
            }
        }
        ProgressBar progress = new ProgressBar(environment.err(), environment.terminal(), "runs", cases.size() * seeds);
        List<Callable<LoadOutcome>> runs = new ArrayList<>();
        for (Case one : cases) {
            for (long seed = firstSeed; seed < firstSeed + seeds; seed++) {
                runs.add(run(one, seed, progress));
            }
        }
        List<LoadOutcome> outcomes = ParallelRuns.all(runs, Runtime.getRuntime().availableProcessors());
        List<LoadResult> results = new ArrayList<>();
        for (Case one : cases) {
            int from = results.size() * seeds;
            results.add(new LoadResult(
                    one.workload().name(), one.mode(), one.load(), outcomes.subList(from, from + seeds)));
        }
        return results;
    }

    private Callable<LoadOutcome> run(Case one, long seed, ProgressBar progress) {
        return () -> {
            LoadOutcome outcome = LoadRun.run(
                    one.workload(),
                    one.mode(),
                    policy.create(one.workload().mix(), ~seed),
                    options.settings(one.load()),
                    seed);
            progress.step("%s, %s at %s".formatted(one.workload().name(), one.mode(), one.load()));
            return outcome;
        };
    }
}
