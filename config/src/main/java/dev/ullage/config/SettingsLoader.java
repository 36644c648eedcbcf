package dev.ullage.config;

import static dev.ullage.config.ValueParsers.wholeNumber;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigParseOptions;
import com.typesafe.config.ConfigResolveOptions;
import com.typesafe.config.ConfigValueFactory;
import dev.ullage.common.model.MemoryBytes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Reads the settings: flags before the file, the file before {@code reference.conf}. Whatever is wrong is reported at
 * once, in one {@link SettingsException}.
 */
public final class SettingsLoader {
    private static final String ROOT = "ullage";
    private static final Function<String, Duration> PACE =
            Durations.parser(Duration.ofMillis(10), Duration.ofMinutes(1));
    private static final Function<String, Duration> PATIENCE =
            Durations.parser(Duration.ofMillis(10), Duration.ofHours(24));
    private static final Function<String, Duration> AGE =
            Durations.parser(Duration.ofSeconds(1), Duration.ofHours(10_000));
    private static final int MAX_REQUESTS = 10_000;
    private static final int MAX_PORT = 65_535;
    private static final int MAX_RANKS = 100_000;
    private static final int MIN_WATCHED_STEPS = 10;
    private static final int MAX_WATCHED_STEPS = 1_000;
    private static final int MAX_SNAPSHOT_STEPS = 1_000_000;
    private static final int MAX_SNAPSHOTS = 32;
    /** Fewer than the connections the API takes, so that whoever asks still gets an answer. */
    private static final int MAX_STREAM_READERS = 96;

    private static final int MAX_STREAM_BUFFER = 1_024;
    private static final int MAX_READINGS = 1_000;
    private static final MemoryBytes SMALLEST_LOG = MemoryBytes.of(64 * 1024);
    private static final MemoryBytes LARGEST_LOG = MemoryBytes.ofGibibytes(1);
    private static final int MAX_LOG_FILES = 100;

    private final SettingsReader reader;
    private final Map<String, String> environment;

    private SettingsLoader(SettingsReader reader, Map<String, String> environment) {
        this.reader = reader;
        this.environment = environment;
    }

    /**
     * @param file HOCON; {@code ${NAME}} in it reads {@code environment}
     * @param flags what the command line sets; of two for one key the last counts
     * @param environment the process's environment variables
     */
    public static UllageSettings load(Optional<Path> file, List<SettingsFlag> flags, Map<String, String> environment)
            throws SettingsException {
        Config reference = reference("/reference.conf", ROOT);
        return load(reference, file, flags, environment, reader -> new SettingsLoader(reader, environment).read());
    }

    /**
     * What limits are to be worked out for; {@code file} may be any settings file, with a section {@code plan} in it.
     */
    public static PlanSettings loadPlan(Optional<Path> file, List<SettingsFlag> flags, Map<String, String> environment)
            throws SettingsException {
        Config reference = reference("/plan-reference.conf", "plan").withFallback(reference("/reference.conf", ROOT));
        return load(reference, file, flags, environment, reader -> new PlanReader(reader).read());
    }

    private static Config reference(String resource, String root) {
        return ConfigFactory.parseResources(SettingsLoader.class, resource).withOnlyPath(root);
    }

    private static <T> T load(
            Config reference,
            Optional<Path> file,
            List<SettingsFlag> flags,
            Map<String, String> environment,
            Function<SettingsReader, T> read)
            throws SettingsException {
        KnownKeys known = new KnownKeys(reference.root());
        List<SettingsProblem> problems = new ArrayList<>();
        Config fromFile = file.map(path -> parse(path, environment, problems)).orElseGet(ConfigFactory::empty);
        problems.addAll(known.problems(fromFile.root()));
        Config fromFlags = ConfigFactory.empty();
        for (SettingsFlag flag : flags) {
            Config one = parse(flag, problems);
            problems.addAll(known.problems(one.root()));
            fromFlags = one.withFallback(fromFlags);
        }
        SettingsReader reader =
                new SettingsReader(fromFlags.withFallback(fromFile).withFallback(reference), reference);
        T settings = read.apply(reader);
        problems.addAll(reader.problems());
        if (!problems.isEmpty()) {
            throw new SettingsException(problems);
        }
        return settings;
    }

    private static Config parse(Path file, Map<String, String> environment, List<SettingsProblem> problems) {
        if (!Files.isRegularFile(file) || !Files.isReadable(file)) {
            problems.add(ofFile(Files.exists(file) ? "is not a file that can be read" : "does not exist", file));
            return ConfigFactory.empty();
        }
        try {
            Config parsed = ConfigFactory.parseFile(
                    file.toFile(), ConfigParseOptions.defaults().setAllowMissing(false));
            Config variables =
                    ConfigValueFactory.fromMap(environment, "environment").toConfig();
            return parsed.resolveWith(parsed.withFallback(variables), ConfigResolveOptions.noSystem());
        } catch (ConfigException e) {
            problems.add(ofFile("cannot be read: " + withoutOrigin(e), file, e));
            return ConfigFactory.empty();
        }
    }

    private static Config parse(SettingsFlag flag, List<SettingsProblem> problems) {
        try {
            return ConfigFactory.empty()
                    .withValue(flag.key(), ConfigValueFactory.fromAnyRef(flag.value(), flag.origin()));
        } catch (ConfigException.BadPath e) {
            problems.add(new SettingsProblem(flag.key(), flag.value(), "is not a setting", flag.origin()));
            return ConfigFactory.empty();
        }
    }

    private static SettingsProblem ofFile(String rule, Path file) {
        return new SettingsProblem("", "", rule, file.toString());
    }

    private static SettingsProblem ofFile(String rule, Path file, ConfigException e) {
        String origin = e.origin() == null ? file.toString() : SettingsReader.origin(e.origin());
        return new SettingsProblem("", "", rule, origin);
    }

    /** The library puts where it happened in front of what happened. */
    private static String withoutOrigin(ConfigException e) {
        String message = String.valueOf(e.getMessage());
        String prefix = e.origin() == null ? "" : e.origin().description() + ": ";
        return message.startsWith(prefix) ? message.substring(prefix.length()) : message;
    }

    private UllageSettings read() {
        return new UllageSettings(
                node(), cluster(), http(), worker(), coordinator(), new LimitsReader(reader).read(), decisionLog());
    }

    private NodeSettings node() {
        String name = reader.value(
                "ullage.node.name", text -> text.isEmpty() ? HostName.of(environment) : ValueParsers.nodeName(text));
        Path stateDir = reader.value(
                        "ullage.node.state-dir",
                        text -> text.isEmpty() ? defaultStateDir() : Optional.of(ValueParsers.path(text, environment)))
                .orElse(Path.of(""));
        reader.require(
                "ullage.node.state-dir",
                () -> !stateDir.toString().isEmpty(),
                () -> "must be set: neither XDG_STATE_HOME nor HOME is in the environment");
        return new NodeSettings(name, stateDir);
    }

    private Optional<Path> defaultStateDir() {
        return StateFolder.byEnvironment(environment);
    }

    private ClusterSettings cluster() {
        FailoverSettings failover = new FailoverSettings(
                reader.value("ullage.cluster.failover.stable-after", PACE),
                reader.value("ullage.cluster.failover.heartbeat-interval", PACE),
                reader.value("ullage.cluster.failover.acceptable-heartbeat-pause", PACE));
        reader.require(
                "ullage.cluster.failover.acceptable-heartbeat-pause",
                () -> failover.acceptableHeartbeatPause().compareTo(failover.heartbeatInterval()) > 0,
                () -> "must be longer than ullage.cluster.failover.heartbeat-interval ("
                        + Durations.show(failover.heartbeatInterval()) + ")");
        Transport transport =
                reader.value("ullage.cluster.transport", ValueParsers.oneOf(Transport.class, Transport::label));
        Optional<ClusterTls> tls = new TlsReader(reader, environment).cluster(transport);
        return new ClusterSettings(
                // With files missing there is no settings object anyway: the problem is reported.
                transport == Transport.TLS_TCP && tls.isEmpty() ? Transport.TCP : transport,
                reader.value("ullage.cluster.host", ValueParsers::reachableHost),
                reader.value("ullage.cluster.port", wholeNumber(0, MAX_PORT)),
                reader.list("ullage.cluster.seed-nodes", ValueParsers::nodeAddress),
                reader.value("ullage.cluster.majority-of", ValueParsers.oneOf(MajorityOf.class, MajorityOf::label)),
                failover,
                tls);
    }

    private HttpSettings http() {
        String host = reader.value("ullage.http.host", ValueParsers::host);
        return new HttpSettings(
                host,
                reader.value("ullage.http.port", wholeNumber(0, MAX_PORT)),
                reader.value("ullage.http.dcgm-aliases", ValueParsers::onOrOff),
                new StreamSettings(
                        reader.value(
                                "ullage.http.stream.interval",
                                Durations.parser(Duration.ofMillis(100), Duration.ofSeconds(10))),
                        reader.value("ullage.http.stream.max-readers", wholeNumber(1, MAX_STREAM_READERS)),
                        reader.value("ullage.http.stream.buffer", wholeNumber(2, MAX_STREAM_BUFFER))),
                new TlsReader(reader, environment).http(host),
                new ReportSettings(
                        reader.value("ullage.http.report.device-hour-price", ValueParsers::optionalPrice),
                        reader.value("ullage.http.report.currency", ValueParsers::currency)));
    }

    private WorkerSettings worker() {
        return new WorkerSettings(
                new WorkerSettings.Devices(
                        reader.value("ullage.worker.devices.simulate", ValueParsers::simulation),
                        reader.value("ullage.worker.devices.nvml-library", ValueParsers.optionalPath(environment)),
                        reader.value("ullage.worker.devices.lock-dir", ValueParsers.optionalPath(environment))),
                reader.value("ullage.worker.sample-interval", PACE),
                reader.value("ullage.worker.tick", PACE),
                reader.value("ullage.worker.resend-after", PACE),
                reader.value("ullage.worker.process-check", PACE),
                reader.value("ullage.worker.max-ranks", wholeNumber(1, MAX_RANKS)),
                reader.value("ullage.worker.turn-deadline", PATIENCE),
                new WatchSettings(
                        reader.value("ullage.worker.watch.steps", wholeNumber(MIN_WATCHED_STEPS, MAX_WATCHED_STEPS)),
                        reader.value("ullage.worker.watch.snapshot-steps", wholeNumber(0, MAX_SNAPSHOT_STEPS)),
                        reader.value("ullage.worker.watch.snapshots", wholeNumber(1, MAX_SNAPSHOTS)),
                        reader.value("ullage.worker.watch.release-from", ValueParsers::share),
                        reader.value("ullage.worker.watch.release-below", ValueParsers::share)),
                enforcement(),
                new WorkerSettings.Host(
                        reader.value("ullage.worker.host.cpus", ValueParsers::optionalCpus),
                        reader.value("ullage.worker.host.memory", ValueParsers::optionalSizeOfSome)));
    }

    private WorkerSettings.Enforcement enforcement() {
        return new WorkerSettings.Enforcement(
                reader.value("ullage.worker.enforcement.default-overhead", ValueParsers::modestSize),
                reader.value("ullage.worker.enforcement.alarm-tolerance", ValueParsers::modestSize),
                reader.value("ullage.worker.enforcement.alarm-after", wholeNumber(1, MAX_READINGS)),
                reader.value(
                        "ullage.worker.enforcement.driver",
                        ValueParsers.oneOf(WorkerSettings.Enforcement.Driver.class, mode -> mode.name()
                                .toLowerCase(Locale.ROOT))));
    }

    private DecisionLogSettings decisionLog() {
        MemoryBytes maxBytes = reader.value("ullage.coordinator.decision-log.max-bytes", ValueParsers::size);
        reader.require(
                "ullage.coordinator.decision-log.max-bytes",
                () -> !SMALLEST_LOG.isMoreThan(maxBytes) && !maxBytes.isMoreThan(LARGEST_LOG),
                () -> "must be 64 KiB to 1 GiB");
        return new DecisionLogSettings(
                reader.value("ullage.coordinator.decision-log.enabled", ValueParsers::onOrOff),
                maxBytes,
                reader.value("ullage.coordinator.decision-log.files", wholeNumber(1, MAX_LOG_FILES)));
    }

    private CoordinatorSettings coordinator() {
        Duration staleAfter = reader.value("ullage.coordinator.stale-after", PATIENCE);
        Duration forgetAfter = reader.value("ullage.coordinator.forget-after", PATIENCE);
        reader.require(
                "ullage.coordinator.forget-after",
                () -> forgetAfter.compareTo(staleAfter) >= 0,
                () -> "must not be shorter than ullage.coordinator.stale-after (" + Durations.show(staleAfter) + ")");
        CoordinatorSettings pace = new CoordinatorSettings(
                reader.value("ullage.coordinator.tick", PACE),
                reader.value("ullage.coordinator.claim-for", PACE),
                reader.value("ullage.coordinator.learn-for", PACE),
                staleAfter,
                forgetAfter,
                reader.value("ullage.coordinator.stall-after", PATIENCE),
                reader.value("ullage.coordinator.resend-after", PACE));
        return pace.with(evenness()).with(queue());
    }

    private EvennessSettings evenness() {
        return new EvennessSettings(
                reader.value(
                        "ullage.coordinator.evenness.mode",
                        ValueParsers.oneOf(EvennessSettings.Mode.class, EvennessSettings.Mode::label)),
                reader.value("ullage.coordinator.evenness.every", PATIENCE),
                reader.value("ullage.coordinator.evenness.looks", wholeNumber(1, MAX_READINGS)),
                reader.value("ullage.coordinator.evenness.uneven-from", ValueParsers::share),
                reader.value("ullage.coordinator.evenness.gain-from", ValueParsers::share),
                reader.value("ullage.coordinator.evenness.max-orders", wholeNumber(1, MAX_READINGS)));
    }

    private QueueSettings queue() {
        return new QueueSettings(
                reader.value("ullage.coordinator.queue.weight.high", ValueParsers::weight),
                reader.value("ullage.coordinator.queue.weight.medium", ValueParsers::weight),
                reader.value("ullage.coordinator.queue.weight.low", ValueParsers::weight),
                reader.value("ullage.coordinator.queue.age", AGE),
                reader.value("ullage.coordinator.queue.lease", PATIENCE),
                reader.value("ullage.coordinator.queue.idle-for", PATIENCE),
                reader.value("ullage.coordinator.queue.settle-for", PATIENCE),
                reader.value("ullage.coordinator.queue.max-requests", wholeNumber(1, MAX_REQUESTS)));
    }
}
