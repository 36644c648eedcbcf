package dev.ullage.cli;

import dev.ullage.cli.estimate.JobEstimate;
import dev.ullage.cli.show.PlanReport;
import dev.ullage.common.model.Counts;
import dev.ullage.config.PlanSettings;
import dev.ullage.config.PolicyName;
import dev.ullage.config.SettingsException;
import dev.ullage.config.SettingsFlag;
import dev.ullage.config.SettingsLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ullage plan}: what limits ranks would get, with no cluster running. */
@Command(
        name = "plan",
        description = "Works out the limits of ranks with no cluster running, by the policies that a cluster uses.",
        footer = {
            "",
            "A file (--file) may hold all of this and any other setting; flags go before it:",
            "  plan { devices = [80GiB, 40GiB], size = 3, priorities = [high, medium, low] }",
            "  ullage.limits { policy = priority-pool, policies.priority-pool.model-size = 4096MiB }",
            "Exit code 1: some limit is below the minimum, so that no cluster would carry the plan out, or"
                    + " less than an estimate's upper end, so that no such job would be started."
        })
final class PlanCommand implements Callable<Integer> {
    private final CliEnvironment environment;

    @Option(
            names = "--device",
            paramLabel = "SIZE",
            description = "What a device can give out, as in 12288MiB; once for each device.")
    private List<String> devices = List.of();

    @Option(names = "--size", paramLabel = "N", description = "Ranks of the job, spread evenly over the devices.")
    private @Nullable String size;

    @Option(names = "--ranks-per-device", paramLabel = "N", description = "Ranks on each device.")
    private @Nullable String ranksPerDevice;

    @Option(
            names = "--policy",
            paramLabel = "NAME",
            description = "rank-share, world-share, fixed, growth, priority-pool, hybrid, observed or planned.")
    private @Nullable String policy;

    @Option(names = "--reserve", paramLabel = "SHARE", description = "What no rank is promised: 20%%, 0.2 or 2000bp.")
    private @Nullable String reserve;

    @Option(
            names = "--limit",
            paramLabel = "LIMIT",
            description = "For fixed: an amount (12GiB) or a share of the device (80%%).")
    private @Nullable String limit;

    @Option(names = "--model-size", paramLabel = "SIZE", description = "For priority-pool: memory of the job's model.")
    private @Nullable String modelSize;

    @Option(
            names = "--priority",
            paramLabel = "PRIORITY",
            description = "For priority-pool: high, medium or low; once for all ranks, or once for each in order.")
    private List<String> priorities = List.of();

    @Option(names = "--step", paramLabel = "N", description = "For hybrid: the step that the ranks have reached.")
    private @Nullable String step;

    @Option(
            names = "--estimate",
            paramLabel = "FILE",
            description =
                    "What the ranks are estimated to need, as for \"ullage run\"; says how many there are, and the"
                            + " policy is planned unless another is named.")
    private @Nullable Path estimate;

    @Option(
            names = "--file",
            paramLabel = "FILE",
            description = "Settings file (HOCON), which may have a section plan.")
    private @Nullable Path file;

    @Option(names = "--json", description = "The plan as JSON, amounts in bytes.")
    private boolean json;

    PlanCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws SettingsException, CommandFailure {
        PlanReport report = estimate == null ? PlanReport.of(plan(flags())) : byEstimate(JobEstimate.read(estimate));
        environment.out().print(json ? report.json() + "\n" : report.table(environment.terminal()));
        environment.out().flush();
        return (report.isUsable() ? ExitCode.OK : ExitCode.FAILED).code();
    }

    private PlanSettings plan(List<SettingsFlag> flags) throws SettingsException {
        return SettingsLoader.loadPlan(Optional.ofNullable(file), flags, environment.variables());
    }

    private PlanReport byEstimate(JobEstimate job) throws SettingsException, CommandFailure {
        List<SettingsFlag> flags = flags();
        add(flags, "--estimate", "ullage.limits.policy", policy == null ? PolicyName.PLANNED.label() : null);
        add(flags, "--estimate", "plan.size", size == null ? String.valueOf(job.ranks()) : null);
        PlanSettings plan = plan(flags);
        if (plan.size() != job.ranks()) {
            throw new CommandFailure(
                    ExitCode.BAD_SETTINGS,
                    "--size %d, but the estimate is of %s (tp x pp x cp x dp)"
                            .formatted(plan.size(), Counts.of(job.ranks(), "rank")));
        }
        job.assumptions().forEach(line -> environment.err().println("ullage: estimate: " + line));
        environment.err().flush();
        return PlanReport.of(plan, job::of);
    }

    private List<SettingsFlag> flags() {
        List<SettingsFlag> flags = new ArrayList<>();
        add(flags, "--device", "plan.devices", devices.isEmpty() ? null : String.join(",", devices));
        add(flags, "--size", "plan.size", size);
        add(flags, "--ranks-per-device", "plan.ranks-per-device", ranksPerDevice);
        add(flags, "--priority", "plan.priorities", priorities.isEmpty() ? null : String.join(",", priorities));
        add(flags, "--step", "plan.step", step);
        add(flags, "--policy", "ullage.limits.policy", policy);
        add(flags, "--reserve", "ullage.limits.reserve", reserve);
        add(flags, "--limit", "ullage.limits.policies.fixed.limit", limit);
        add(flags, "--model-size", "ullage.limits.policies.priority-pool.model-size", modelSize);
        return flags;
    }

    private static void add(List<SettingsFlag> flags, String flag, String key, @Nullable String value) {
        if (value != null) {
            flags.add(new SettingsFlag(flag, key, value));
        }
    }
}
