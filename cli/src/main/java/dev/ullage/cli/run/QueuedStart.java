package dev.ullage.cli.run;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.CliEnvironment;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.cli.ReadServerOption;
import dev.ullage.cli.client.ApiClient;
import dev.ullage.cli.client.ApiException;
import dev.ullage.cli.estimate.JobEstimate;
import dev.ullage.cli.node.SteadyClock;
import dev.ullage.cli.run.ClusterDevices.Host;
import dev.ullage.cli.run.RunPlan.Surroundings;
import dev.ullage.common.model.Counts;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.config.NodeSettings;
import dev.ullage.coordinator.admission.RequestReader;
import dev.ullage.coordinator.admission.RequestReader.Reading;
import dev.ullage.coordinator.http.OperatorToken;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.ObjIntConsumer;

/** Asks the queue for a job's room, checked first, and starts its launcher on the devices that it gets. */
final class QueuedStart {
    private static final int CANNOT_RUN = 127;

    private final CliEnvironment environment;
    private final QueueOptions queue;
    private final ReadServerOption server;
    private final Job job;

    /**
     * What is to be started.
     *
     * @param estimate what its ranks were estimated to need; empty: not said
     */
    record Job(
            LaunchRequest request,
            RunTerms terms,
            NodeSettings node,
            JobId name,
            Optional<JobEstimate> estimate,
            Surroundings surroundings) {}

    QueuedStart(CliEnvironment environment, QueueOptions queue, ReadServerOption server, Job job) {
        this.environment = environment;
        this.queue = queue;
        this.server = server;
        this.job = job;
    }

    static JobId jobId(String name) throws CommandFailure {
        try {
            return new JobId(name);
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(ExitCode.USAGE, "job: " + e.getMessage(), e);
        }
    }

    /** @param fields by the API's names, with who asks */
    private record Asked(JobRequest request, Map<String, Object> fields) {}

    /** Says what would be asked for, without a cluster. */
    int check(JobFile file) throws CommandFailure {
        JobRequest wanted = ask(file).request();
        environment
                .out()
                .println("job %s asks for %s: %s, priority %s"
                        .formatted(
                                wanted.job(), wanted.text(), Counts.of(wanted.devices(), "device"), wanted.priority()));
        return ExitCode.OK.code();
    }

    /** @param sumUp is told at the end what the ranks used, and the exit code */
    int run(JobFile file, ObjIntConsumer<RunWatch> sumUp) throws ApiException, CommandFailure, InterruptedException {
        if (queue.isCheck()) {
            return check(file);
        }
        Asked asked = ask(file);
        ApiClient client = server.client();
        RunWatch watch = new RunWatch(client, Optional.of(job.name().value()));
        Submission submission =
                new Submission(client, operatorToken(), job.name().value(), asked.fields(), new SteadyClock());
        QueuedRun run = new QueuedRun(environment, submission, queue.longestWait(), new SteadyClock());
        try {
            int code = run.run(placed -> planned(placed, asked.request(), client), watch::look);
            sumUp.accept(watch, code);
            return code;
        } catch (IOException e) {
            say("the launcher cannot be run: " + e.getMessage());
            return CANNOT_RUN;
        }
    }

    /** All that is wrong with it is said at once. */
    private Asked ask(JobFile file) throws CommandFailure {
        Map<String, Object> written = queue.fields(file);
        Map<String, Object> said = written;
        List<String> problems = new ArrayList<>();
        if (job.estimate().isPresent()) {
            EstimatedRoom room = EstimatedRoom.of(job.estimate().get(), said, job.request(), job.terms());
            said = room.fields();
            problems.addAll(room.problems());
            room.warnings().forEach(this::say);
        }
        RunRequest asked =
                RunRequest.of(said, job.request(), job.terms(), job.node().nodeName());
        problems.addAll(asked.problems());
        String submitter = submitter();
        Reading reading = RequestReader.read(job.name(), submitter, asked.fields());
        problems.addAll(reading.problems());
        List<String> all = new ArrayList<>(file.problems());
        problems.forEach(problem -> all.add(file.placed(problem, written)));
        if (!all.isEmpty()) {
            // What the file says was not all understood, so what is asked for was not refused.
            ExitCode ofRequest = job.request().command().isEmpty() ? ExitCode.USAGE : ExitCode.REFUSED;
            ExitCode code = file.problems().isEmpty() ? ofRequest : ExitCode.BAD_SETTINGS;
            throw new CommandFailure(code, "refused: " + String.join("; ", all));
        }
        Map<String, Object> fields = new LinkedHashMap<>(asked.fields());
        fields.put("submitter", submitter);
        return new Asked(reading.request().orElseThrow(), fields);
    }

    private String submitter() {
        ProcessHandle self = ProcessHandle.current();
        return "%s/%d/%s"
                .formatted(
                        job.node().nodeName(),
                        self.pid(),
                        self.info().startInstant().map(Instant::toString).orElse("?"));
    }

    private String operatorToken() throws CommandFailure {
        try {
            return OperatorToken.read(server.tokenFile()
                            .orElseGet(() -> OperatorToken.file(job.node().stateDir())))
                    .secret();
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.STATE_UNUSABLE, String.valueOf(e.getMessage()), e);
        }
    }

    /** On the devices of its placement, and no others. */
    private RunPlan planned(JsonNode placed, JobRequest wanted, ApiClient client) throws ApiException, CommandFailure {
        ClusterDevices cluster = ClusterDevices.of(client.status());
        List<DeviceInfo> known =
                cluster.here(job.node().nodeName()).map(Host::infos).orElse(List.of());
        List<DeviceInfo> devices = new ArrayList<>();
        for (String uuid : QueuedRun.devices(placed)) {
            devices.add(known.stream()
                    .filter(info -> info.id().value().equals(uuid))
                    .findFirst()
                    .orElseThrow(() -> new CommandFailure(
                            ExitCode.FAILED, "device " + uuid + " was reserved, and is none of this host's")));
        }
        RunTerms before = job.terms();
        RunTerms terms = new RunTerms(
                OptionalInt.of(wanted.ranks()),
                wanted.ranksPerDevice(),
                OptionalInt.of(devices.size()),
                before.memory(),
                before.visibleDevices(),
                before.deviceOrder());
        RunChecks.Verdict verdict =
                new RunChecks.Verdict(List.of(), List.of(), Optional.of(devices), OptionalInt.of(wanted.ranks()));
        RunPlan plan = RunPlan.of(job.request(), terms, verdict, job.surroundings(), environment.variables());
        return job.estimate()
                .map(estimate -> plan.with(JobEstimate.VARIABLE, estimate.variable()))
                .orElse(plan);
    }

    private void say(String text) {
        environment.err().println("ullage: " + text);
        environment.err().flush();
    }
}
