package dev.ullage.cli.devices;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.cli.CliEnvironment;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.cli.show.DevicesTable;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.NodeId;
import dev.ullage.config.SettingsException;
import dev.ullage.config.SettingsFlag;
import dev.ullage.config.SettingsLoader;
import dev.ullage.config.UllageSettings;
import dev.ullage.config.WorkerSettings;
import dev.ullage.worker.DeviceSource;
import dev.ullage.worker.probe.ContextOverhead;
import dev.ullage.worker.probe.GpuProbe;
import dev.ullage.worker.probe.NvmlRecorder;
import dev.ullage.worker.probe.ProbeUnavailableException;
import dev.ullage.worker.probe.SimulatedProbe;
import dev.ullage.worker.sampling.DeviceReaders;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ullage devices}: looks, and changes nothing. */
@Command(
        name = "devices",
        description = "Shows this machine's devices as a worker would see them, or those of recordings.",
        footer = {
            "",
            "ALLOCATABLE is TOTAL without what the driver keeps for itself: all that ranks can ever be given. Why a"
                    + " figure is not known (\"-\") is under PROBLEMS.",
            "UNLISTED is USED without what the listed processes hold. The driver has some of it; more than 1 GiB, and than"
                    + " 2 % of TOTAL, is held by processes that the list does not have, and PROBLEMS says so.",
            "For a bug report: ullage devices --record nvml.json; nvidia-smi -q -x > nvidia-smi-q-x.xml. A recording has"
                    + " the devices' names and UUIDs, amounts, and pids; no command lines, no host name.",
            "In a folder, files with the same name up to nvidia-smi-q-x, query-gpu, compute-apps, nvidia-smi-L, table or"
                    + " meminfo are of one machine, and recordings of NVML are nvml*.json."
        })
public final class DevicesCommand implements Callable<Integer> {
    private static final String RECORD = "Record some with ullage devices --record nvml.json or nvidia-smi -q -x >"
            + " nvidia-smi-q-x.xml, or leave out --from to look at this machine";

    private static final Path PROC = Path.of("/proc");
    private static final Duration READ_WITHIN = Duration.ofSeconds(10);
    private static final Duration CONTEXT_WITHIN = Duration.ofSeconds(60);

    private final CliEnvironment environment;

    @Option(names = "--json", description = "The devices as JSON.")
    private boolean json;

    @Option(
            names = "--from",
            paramLabel = "PATH",
            description = "Recordings instead of this machine: of NVML (--record), or outputs of nvidia-smi: tables,"
                    + " -q -x, -L, or the queries as CSV; a file or a folder of them.")
    private @Nullable Path from;

    @Option(
            names = "--record",
            paramLabel = "FILE",
            description = "Write down what NVML was asked and answered, to a new file; what --from shows.")
    private @Nullable Path record;

    @Option(
            names = "--measure-context",
            description = "Also make a CUDA context on each device for a moment and say what it costs: memory that no"
                    + " allocator's limit covers. Takes some hundred MiB of the device.")
    private boolean measureContext;

    @Option(
            names = "--simulate",
            paramLabel = "SPEC",
            description = "Simulated devices instead of real ones: 8xH100-80G,2xA100-40G")
    private @Nullable String simulate;

    @Option(names = "--config", paramLabel = "FILE", description = "Settings file (HOCON).")
    private @Nullable Path config;

    public DevicesCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws SettingsException, CommandFailure {
        if ((record != null || measureContext) && (from != null || simulate != null)) {
            throw new CommandFailure(
                    ExitCode.USAGE,
                    (record != null ? "--record" : "--measure-context")
                            + " is of the real devices of this machine; leave out --from and --simulate");
        }
        if (from != null && from.toString().isEmpty()) {
            throw new CommandFailure(ExitCode.USAGE, "--from is empty; name a file or a folder, . for this one");
        }
        if (record != null && measureContext) {
            throw new CommandFailure(
                    ExitCode.USAGE, "--record writes down what NVML answers, no more; leave out --measure-context");
        }
        return from == null ? ofThisMachine() : recorded(from);
    }

    private int ofThisMachine() throws SettingsException, CommandFailure {
        List<SettingsFlag> flags = simulate == null
                ? List.of()
                : List.of(new SettingsFlag("--simulate", "ullage.worker.devices.simulate", simulate));
        UllageSettings settings = SettingsLoader.load(Optional.ofNullable(config), flags, environment.variables());
        if (record != null) {
            return recordTo(record, settings.worker().devices());
        }
        try (GpuProbe probe = probe(settings)) {
            show(List.of(read(probe, measureContext)), List.of());
            return ExitCode.OK.code();
        } catch (ProbeUnavailableException e) {
            return nothing("no GPU can be used: " + DeviceSource.withWaysOut(String.valueOf(e.getMessage())));
        }
    }

    /** A device that does not answer is shown as one, beside the others. Lets go of the driver. */
    private static ShownSource read(GpuProbe probe, boolean measureContext) {
        try (DeviceReaders readers = new DeviceReaders(probe, PROC, READ_WITHIN, Clock.systemUTC())) {
            ShownSource source = ShownSource.of(probe, device -> readers.readWithin(device, READ_WITHIN));
            return measureContext ? withContexts(source, probe) : source;
        }
    }

    /** Of a slice it is not measured: a process sees one only when it is told of it at its start. */
    private static ShownSource withContexts(ShownSource source, GpuProbe probe) {
        return source.with(source.devices().stream()
                .map(device -> device.names()
                        .uuid()
                        .filter(uuid -> !device.kind().equals(Optional.of(DeviceKind.MIG)))
                        .map(uuid ->
                                device.with(ContextOverhead.measureWithin(probe, new DeviceId(uuid), CONTEXT_WITHIN)))
                        .orElse(device))
                .toList());
    }

    /** What a driver says that cannot be used is worth recording most, so the file is written in any case. */
    private int recordTo(Path file, WorkerSettings.Devices devices) throws CommandFailure {
        if (Files.exists(file)) {
            throw new CommandFailure(ExitCode.USAGE, "--record: '" + file + "' is there already; name a new file");
        }
        Path folder = file.toAbsolutePath().getParent();
        if (Files.isSymbolicLink(file) || folder == null || !Files.isDirectory(folder)) {
            throw new CommandFailure(
                    ExitCode.USAGE,
                    "--record: '" + file + "' is a link, or no file of a folder that exists; name a new file");
        }
        NvmlRecorder recorder = new NvmlRecorder();
        try (GpuProbe probe = DeviceSource.recorded(devices, recorder)) {
            ShownSource source = read(probe, false);
            write(recorder, file);
            show(List.of(source), List.of());
            return ExitCode.OK.code();
        } catch (ProbeUnavailableException e) {
            if (recorder.size() > 0) {
                write(recorder, file);
            }
            return nothing("no GPU can be used: " + DeviceSource.withWaysOut(String.valueOf(e.getMessage())));
        }
    }

    private void write(NvmlRecorder recorder, Path file) throws CommandFailure {
        try {
            Files.writeString(file, recorder.json(), StandardOpenOption.CREATE_NEW);
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.FAILED, "--record: '" + file + "' cannot be written: " + e);
        }
        environment.err().println("recorded " + recorder.size() + " calls of NVML to " + file);
        environment.err().flush();
    }

    private static GpuProbe probe(UllageSettings settings) throws ProbeUnavailableException {
        WorkerSettings.Devices devices = settings.worker().devices();
        return devices.simulate().isPresent()
                ? SimulatedProbe.create(
                        new NodeId(settings.node().nodeName()),
                        devices.simulate().get())
                : DeviceSource.probe(devices);
    }

    private int recorded(Path path) throws CommandFailure {
        if (!Files.isReadable(path)) {
            return nothing("'" + path + "' is not there or cannot be read. " + RECORD);
        }
        List<ShownSource> sources;
        try {
            sources = Recordings.read(path);
        } catch (IOException e) {
            return nothing("'" + path + "' cannot be read: " + e.getMessage() + ". " + RECORD);
        }
        if (sources.stream().noneMatch(ShownSource::isReadable)) {
            String why = sources.size() == 1
                    ? String.join("; ", sources.get(0).problems())
                    : "none of its " + sources.size() + " files is a recording that can be read";
            return nothing("'" + path + "': " + why + ". " + RECORD);
        }
        show(sources, List.of());
        return ExitCode.OK.code();
    }

    /** A script that asked for JSON gets it also now. */
    private int nothing(String why) throws CommandFailure {
        if (json) {
            show(List.of(), List.of(why));
        }
        throw new CommandFailure(ExitCode.NO_DEVICES, why);
    }

    private void show(List<ShownSource> sources, List<String> errors) {
        ObjectNode document = DevicesJson.of(sources, errors);
        environment.out().print(json ? document + "\n" : DevicesTable.render(document, environment.terminal()));
        environment.out().flush();
    }
}
