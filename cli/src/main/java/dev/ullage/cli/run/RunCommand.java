package dev.ullage.cli.run;

import dev.ullage.cli.CliEnvironment;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.cli.ReadServerOption;
import dev.ullage.cli.client.ApiClient;
import dev.ullage.cli.client.ApiException;
import dev.ullage.cli.estimate.JobEstimate;
import dev.ullage.cli.run.ClusterDevices.Host;
import dev.ullage.cli.run.RunPlan.Surroundings;
import dev.ullage.cli.show.Terminal;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.MemorySizes;
import dev.ullage.config.NodeSettings;
import dev.ullage.config.PolicyName;
import dev.ullage.config.SettingsException;
import dev.ullage.config.SettingsLoader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** {@code ullage run -- torchrun ...}: checks, starts the launcher with the client in front of each rank, sums up. */
@Command(
        name = "run",
        description = "Runs a training job through its launcher: checked first, with a limit for each rank, summed up"
                + " at the end.",
        footer = {
            "",
            "Launchers: torchrun, mpirun, srun, horovodrun, deepspeed, python3 -m torch.distributed.run; python3 alone"
                    + " is one rank.",
            "  ullage run -- torchrun --nproc-per-node 4 train.py",
            "  ullage run --ranks-per-device 2 --memory 12GiB -- mpirun -np 4 python3 train.py",
            "",
            "With --wait, --memory-per-rank, --cpus, --host-memory, --priority, --runs-for or --job-file the job gets"
                    + " room for all its ranks before it starts, or waits for it in the queue (docs/queue.md): \"ullage"
                    + " jobs\" shows where it stands, \"ullage cancel\" and \"ullage requeue\" change"
                    + " that. Code 9: no room within --wait.",
            "",
            "Refused with code 6 before anything starts: more ranks than devices, a device list and a count that"
                    + " disagree, memory that no device could ever give, an estimate of another number of ranks. Else the exit code is the job's: its own, or"
                    + " 128 + N when signal N ended it. SIGHUP, SIGINT, SIGTERM, SIGUSR1 and SIGUSR2 are passed on."
        })
public final class RunCommand implements Callable<Integer> {
    private static final int LOOK_EVERY_SECONDS = 2;
    private static final int CANNOT_RUN = 127;

    private final CliEnvironment environment;

    @Option(
            names = "--job",
            paramLabel = "JOB",
            description = "The job's name in \"ullage status\" (default: made up).")
    private @Nullable String job;

    @Option(
            names = "--ranks",
            paramLabel = "N",
            description = "How many, where the launcher's options do not say; 0: none, so no device.")
    private @Nullable Integer ranks;

    @Option(
            names = "--ranks-per-device",
            paramLabel = "N",
            defaultValue = "1",
            description = "At most so many on each device (default: ${DEFAULT-VALUE}).")
    private int ranksPerDevice = 1;

    @Option(
            names = "--gpus",
            paramLabel = "N",
            description = "How many devices of this host the job sees; 0: none (default: what its ranks need).")
    private @Nullable Integer gpus;

    @Option(
            names = "--memory",
            paramLabel = "SIZE",
            converter = MemoryConverter.class,
            description = "What each rank needs: refused when no device could give it.")
    private @Nullable MemoryBytes memory;

    @Option(
            names = "--policy",
            paramLabel = "NAME",
            converter = PolicyConverter.class,
            description = "How the limits of this job are worked out, instead of what the settings say: rank-share,"
                    + " world-share, fixed, growth, priority-pool, hybrid, observed or planned.")
    private @Nullable PolicyName policy;

    @Option(
            names = "--estimate",
            paramLabel = "FILE",
            description = "What the ranks are estimated to need: the fields of \"ullage estimate --file\", or what its"
                    + " --json printed. Checked against launcher and devices; the limits follow it (policy planned)."
                    + " With --wait: what each rank asks for, unless an amount is said.")
    private @Nullable Path estimate;

    @Option(names = "--require", description = "A rank that gets no limit does not start.")
    private boolean require;

    @Option(names = "--dry-run", description = "Print what would be run, and in which environment, and end.")
    private boolean dryRun;

    @Option(
            names = "--no-wrap",
            description = "Leave the command as it is: the client is in front of the ranks already.")
    private boolean noWrap;

    @Option(names = "--json", paramLabel = "FILE", description = "Write what the ranks used to this file.")
    private @Nullable Path json;

    @Option(names = "--config", paramLabel = "FILE", description = "Settings file, for the worker's state folder.")
    private @Nullable Path config;

    @Mixin
    private QueueOptions queue = new QueueOptions();

    @Mixin
    private ReadServerOption server = new ReadServerOption();

    @Parameters(arity = "0..*", paramLabel = "COMMAND", description = "The launcher with its options and the script.")
    private List<String> command = List.of();

    public RunCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws ApiException, CommandFailure, SettingsException, InterruptedException {
        requireUsable();
        Map<String, String> variables = environment.variables();
        NodeSettings node = SettingsLoader.load(Optional.ofNullable(config), List.of(), variables)
                .node();
        JobFile file = queue.file();
        List<String> words = command.isEmpty() ? file.command() : command;
        LaunchRequest request =
                words.isEmpty() ? LaunchRequest.WITHOUT_COMMAND : LauncherArguments.read(words, variables);
        boolean wantsNoDevice = (gpus != null && gpus == 0) || (ranks != null && ranks == 0);
        if (queue.isAsked() && !wantsNoDevice) {
            return queued(request, node, file);
        }
        file.requireRight(words.isEmpty() ? request.problems() : List.of());
        Optional<JobEstimate> estimated = estimate == null ? Optional.empty() : Optional.of(JobEstimate.read(estimate));
        ApiClient client = server.client();
        ClusterDevices cluster = ClusterDevices.of(client.status());
        RunTerms terms = terms(variables);
        Optional<Host> here = cluster.here(node.nodeName());
        RunChecks.Verdict verdict = RunChecks.check(request, terms, cluster, here);
        verdict.warnings().forEach(this::warn);
        List<String> refusals = new ArrayList<>(verdict.refusals());
        estimated
                .map(job -> EstimateChecks.check(job, request, terms, verdict, cluster, here))
                .ifPresent(findings -> {
                    findings.warnings().forEach(this::warn);
                    refusals.addAll(findings.refusals());
                });
        verdict.devices()
                .filter(OwnInstances::areNeeded)
                .flatMap(devices -> OwnInstances.refusal(asWrapped(request)))
                .ifPresent(refusals::add);
        if (!refusals.isEmpty()) {
            throw new CommandFailure(ExitCode.REFUSED, "refused: " + String.join("; ", refusals));
        }
        Optional<String> name = jobName(request, node, Optional.empty());
        RunPlan checked = RunPlan.of(asWrapped(request), terms, verdict, surroundings(name, node), variables);
        RunPlan plan = estimated
                .map(job -> checked.with(JobEstimate.VARIABLE, job.variable()))
                .orElse(checked);
        plan.notes().forEach(this::warn);
        if (dryRun) {
            environment.out().print(plan.text());
            environment.out().flush();
            return ExitCode.OK.code();
        }
        if (name.isEmpty()) {
            warn("several hosts start this job, each with a part: say the same --job on all to have it summed up");
        }
        return run(plan, client, name);
    }

    /** Through the queue: it starts once all of its room is reserved. */
    private int queued(LaunchRequest request, NodeSettings node, JobFile file)
            throws ApiException, CommandFailure, InterruptedException {
        String name = jobName(request, node, file.job()).orElse("job");
        QueuedStart start = new QueuedStart(
                environment,
                queue,
                server,
                new QueuedStart.Job(
                        asWrapped(request),
                        terms(environment.variables()),
                        node,
                        QueuedStart.jobId(name),
                        estimate == null ? Optional.empty() : Optional.of(JobEstimate.read(estimate)),
                        surroundings(Optional.of(name), node)));
        return dryRun ? start.check(file) : start.run(file, this::sumUp);
    }

    private LaunchRequest asWrapped(LaunchRequest request) {
        return noWrap ? request.left(LaunchRequest.NO_WRAP) : request;
    }

    private void requireUsable() throws CommandFailure {
        if (ranksPerDevice < 1 || (ranks != null && ranks < 0) || (gpus != null && gpus < 0)) {
            throw new CommandFailure(
                    ExitCode.USAGE, "--ranks-per-device must be 1 or more, --ranks and --gpus 0 or more");
        }
        if (job != null) {
            try {
                new JobId(job);
            } catch (IllegalArgumentException e) {
                throw new CommandFailure(ExitCode.USAGE, "--job: " + e.getMessage(), e);
            }
        }
    }

    private RunTerms terms(Map<String, String> variables) {
        return new RunTerms(
                ranks == null || ranks == 0 ? OptionalInt.empty() : OptionalInt.of(ranks),
                ranksPerDevice,
                ranks != null && ranks == 0
                        ? OptionalInt.of(0)
                        : gpus == null ? OptionalInt.empty() : OptionalInt.of(gpus),
                Optional.ofNullable(memory),
                Optional.ofNullable(variables.get("CUDA_VISIBLE_DEVICES")),
                Optional.ofNullable(variables.get("CUDA_DEVICE_ORDER")));
    }

    /** With torchrun on several hosts, each host has a launcher of its own, and only a person knows what they share. */
    private Optional<String> jobName(LaunchRequest request, NodeSettings node, Optional<String> inFile) {
        Map<String, String> variables = environment.variables();
        Optional<String> said = Optional.ofNullable(job)
                .or(() -> inFile)
                .or(() -> Optional.ofNullable(variables.get("ULLAGE_JOB")).filter(name -> !name.isBlank()));
        boolean isPart =
                request.launcher() == Launcher.TORCHRUN && !request.size().isOneHost();
        return said.isPresent() || isPart
                ? said
                : Optional.of(
                        "run-" + node.nodeName() + "-" + ProcessHandle.current().pid());
    }

    private Surroundings surroundings(Optional<String> name, NodeSettings node) {
        Map<String, String> variables = environment.variables();
        Path socket = node.stateDir().resolve("ranks.sock");
        Optional<String> path = variables.containsKey("ULLAGE_SOCKET") || !Files.exists(socket)
                ? Optional.empty()
                : Optional.of(socket.toString());
        return new Surroundings(
                path,
                Optional.ofNullable(System.getProperty("ullage.home"))
                        .map(home -> Path.of(home, "python").toString()),
                name,
                Optional.ofNullable(policy)
                        .or(() -> Optional.ofNullable(estimate).map(file -> PolicyName.PLANNED))
                        .map(PolicyName::label),
                variables.getOrDefault("ULLAGE_PYTHON", "python3"),
                require);
    }

    private int run(RunPlan plan, ApiClient client, Optional<String> name) throws CommandFailure, InterruptedException {
        RunWatch watch = new RunWatch(client, name);
        int code = start(plan, watch);
        sumUp(watch, code);
        return code;
    }

    private void sumUp(RunWatch watch, int code) {
        watch.look();
        watch.summary().ifPresent(summary -> {
            environment.err().print(summary.text(code, Terminal.NONE));
            environment.err().flush();
        });
        write(watch, code);
    }

    private int start(RunPlan plan, RunWatch watch) throws CommandFailure, InterruptedException {
        try {
            JobProcess job = new JobProcess();
            return JobProcess.await(job.start(plan), LOOK_EVERY_SECONDS, watch::look);
        } catch (IOException e) {
            environment.err().println("ullage: " + plan.command().get(0) + " cannot be run: " + e.getMessage());
            return CANNOT_RUN;
        } catch (LinkageError e) {
            throw new CommandFailure(
                    ExitCode.FAILED,
                    "signals could not be passed on, because native code cannot be loaded: set ULLAGE_TMPDIR to a folder"
                            + " that is not mounted noexec (" + e.getMessage() + ")",
                    e);
        }
    }

    /** The job has ended by now: what is wrong here must not take the place of its exit code. */
    private void write(RunWatch watch, int code) {
        if (json == null || watch.summary().isEmpty()) {
            return;
        }
        try {
            Files.writeString(json, watch.summary().get().json(code) + "\n");
        } catch (IOException e) {
            warn("the summary could not be written to " + json + ": " + e.getMessage());
        }
    }

    private void warn(String text) {
        PrintWriter err = environment.err();
        err.println("ullage: " + text);
        err.flush();
    }

    private static final class MemoryConverter implements ITypeConverter<MemoryBytes> {
        @Override
        public MemoryBytes convert(String text) {
            try {
                MemoryBytes size = MemorySizes.parse(text);
                if (size.isZero()) {
                    throw new TypeConversionException("must be more than 0");
                }
                return size;
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }

    private static final class PolicyConverter implements ITypeConverter<PolicyName> {
        @Override
        public PolicyName convert(String text) {
            return PolicyName.find(text)
                    .orElseThrow(() -> new TypeConversionException("'" + text + "' is none of "
                            + Arrays.stream(PolicyName.values())
                                    .map(PolicyName::label)
                                    .collect(Collectors.joining(", "))));
        }
    }
}
