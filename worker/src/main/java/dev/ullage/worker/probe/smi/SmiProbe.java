package dev.ullage.worker.probe.smi;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.MigSlice;
import dev.ullage.worker.probe.DeviceProblem;
import dev.ullage.worker.probe.GpuProbe;
import dev.ullage.worker.probe.HostMemory;
import dev.ullage.worker.probe.ProbeUnavailableException;
import dev.ullage.worker.probe.ProbeUnavailableException.Reason;
import dev.ullage.worker.probe.smi.SmiTool.Answer;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * NVIDIA devices, read by running {@code nvidia-smi}: the last resort, where NVML cannot be opened.
 *
 * <p>One run answers for all devices and for {@link #INTERVAL}. One that failed answers for all devices too, but only
 * for {@link #AFTER_FAILURE}: the next reading finds out whether the tool is well again. The figures are those of one
 * {@code -q -x}, which no driver refuses for a field it does not know; where that gives no devices, those of the two
 * queries. Whole MiB is all the tool prints, so a reading is marked where its parts do not add up to the total.
 *
 * <p>Threads: as {@link GpuProbe} says; whoever comes while the tool runs waits for it, at most to its deadline. State:
 * the devices found when last looked for, and the newest answer.
 */
public final class SmiProbe implements GpuProbe {
    public static final String DEFAULT_PROGRAM = "nvidia-smi";

    private static final Duration INTERVAL = Duration.ofSeconds(2);
    private static final Duration AFTER_FAILURE = Duration.ofMillis(500);
    private static final List<String> XML = List.of("-q", "-x");
    private static final List<String> LIST = List.of("-L");
    private static final List<String> GPUS = List.of(
            "--query-gpu=index,uuid,name,pci.bus_id,driver_version,memory.total,memory.used,memory.free,mig.mode.current",
            "--format=csv");
    private static final List<String> PROCESSES =
            List.of("--query-compute-apps=gpu_uuid,pid,process_name,used_gpu_memory", "--format=csv");
    private static final Pattern NAMED = Pattern.compile("GPU ?(\\d{1,3})(?![0-9:]*:[0-9A-Fa-f]{2}:)\\b");

    private final SmiTool tool;
    private final InstantSource clock;
    private final Supplier<Optional<HostMemory>> host;
    private final String description;
    private volatile Found found;
    private Round newest;
    private boolean closed;

    /** What one look at all devices gave. */
    private record Round(Instant at, Optional<SmiReport> report, Optional<SmiDevices> seen, String failure) {
        boolean isFresh(Instant now) {
            return !now.isBefore(at) && now.isBefore(at.plus(report.isPresent() ? INTERVAL : AFTER_FAILURE));
        }
    }

    /** The devices that can be given out, and what cannot. */
    private record Found(List<DeviceInfo> devices, List<DeviceProblem> problems) {
        static final Found NOTHING = new Found(List.of(), List.of());

        /** @param before what a device was, where it is not well enough now to tell */
        static Found of(SmiDevices seen, List<DeviceInfo> before) {
            List<DeviceInfo> devices = new ArrayList<>();
            List<DeviceProblem> problems = new ArrayList<>();
            seen.problems().forEach(text -> problems.add(problem(text)));
            for (SmiDevice device : seen.devices()) {
                sort(device, before, devices, problems);
            }
            return new Found(List.copyOf(devices), List.copyOf(problems));
        }

        /** About the device that the text names; {@code GPU0000:CB:00.0} names a place on the bus. */
        private static DeviceProblem problem(String text) {
            Matcher named = NAMED.matcher(text);
            int index = named.find() ? Integer.parseInt(named.group(1)) : 0;
            return new DeviceProblem(index, Optional.empty(), false, text);
        }

        /** Only a device with a name that lasts can be given out. */
        private static void sort(
                SmiDevice device, List<DeviceInfo> before, List<DeviceInfo> devices, List<DeviceProblem> problems) {
            Optional<DeviceId> id = device.id().uuid().flatMap(Found::id);
            int index = device.id().index().orElse(0);
            if (id.isEmpty() || device.id().index().isEmpty()) {
                problems.add(new DeviceProblem(
                        index, id, false, "nvidia-smi does not print its UUID and its index; it cannot be given out"));
                return;
            }
            if (devices.stream().anyMatch(other -> other.id().equals(id.get()))) {
                problems.add(new DeviceProblem(
                        index, id, false, "an earlier device has the same UUID; this one is left out"));
                return;
            }
            Optional<DeviceKind> kind = device.kind().or(() -> before.stream()
                    .filter(other -> other.id().equals(id.get()))
                    .map(DeviceInfo::kind)
                    .findFirst());
            if (kind.isEmpty()) {
                problems.add(new DeviceProblem(
                        index, id, false, String.join("; ", device.problems()) + "; it cannot be given out"));
                return;
            }
            devices.add(new DeviceInfo(
                    id.get(),
                    index,
                    device.id().name().orElse("unknown"),
                    kind.get(),
                    device.id().pciBusId(),
                    device.slice().flatMap(Found::slice)));
        }

        private static Optional<DeviceId> id(String uuid) {
            try {
                return Optional.of(new DeviceId(uuid));
            } catch (IllegalArgumentException e) {
                return Optional.empty();
            }
        }

        private static Optional<MigSlice> slice(SmiDevice.Slice slice) {
            return slice.parentUuid()
                    .flatMap(Found::id)
                    .map(parent -> new MigSlice(
                            parent,
                            slice.instance()
                                    .map(ids -> OptionalInt.of(ids.gpu()))
                                    .orElse(OptionalInt.empty()),
                            slice.instance()
                                    .map(ids -> OptionalInt.of(ids.compute()))
                                    .orElse(OptionalInt.empty()),
                            slice.profile()));
        }
    }

    private SmiProbe(SmiTool tool, InstantSource clock, Supplier<Optional<HostMemory>> host, Round first) {
        this.tool = tool;
        this.clock = clock;
        this.host = host;
        this.newest = first;
        this.description = "nvidia-smi, "
                + first.report()
                        .flatMap(SmiReport::driver)
                        .map(version -> "driver " + version)
                        .orElse("unknown driver");
        this.found = first.seen().map(seen -> Found.of(seen, List.of())).orElse(Found.NOTHING);
    }

    /**
     * A probe on the given tool, with the devices it shows now.
     *
     * @param program a name on the PATH, {@link #DEFAULT_PROGRAM} for one, or a path
     */
    public static SmiProbe open(String program, InstantSource clock) throws ProbeUnavailableException {
        return open(new SmiChild(program, SmiChild.DEADLINE), clock, () -> HostMemory.read(HostMemory.FILE));
    }

    static SmiProbe open(SmiTool tool, InstantSource clock, Supplier<Optional<HostMemory>> host)
            throws ProbeUnavailableException {
        Round first = look(tool, clock, host);
        if (first.report().isEmpty()) {
            throw new ProbeUnavailableException(Reason.SMI_FAILED, first.failure());
        }
        return new SmiProbe(tool, clock, host, first);
    }

    @Override
    public String description() {
        return description;
    }

    @Override
    public List<DeviceInfo> devices() {
        return found.devices();
    }

    /** With the newest answer, which is at most {@link #INTERVAL} old; without one, devices stay as they were. */
    @Override
    public List<DeviceInfo> rescan() {
        round().seen().ifPresent(seen -> found = Found.of(seen, found.devices()));
        return devices();
    }

    @Override
    public List<DeviceProblem> problems() {
        return found.problems();
    }

    @Override
    public DeviceReading read(DeviceId id) {
        if (devices().stream().noneMatch(device -> device.id().equals(id))) {
            return SmiReadings.nothing("device " + id + " is not one of this probe's devices");
        }
        Round round = round();
        if (round.seen().isEmpty()) {
            return SmiReadings.nothing(round.failure());
        }
        return round.seen().get().devices().stream()
                .filter(device -> device.id().uuid().equals(Optional.of(id.value())))
                .findFirst()
                .map(SmiReadings::reading)
                .orElseGet(() -> SmiReadings.nothing("nvidia-smi no longer shows device " + id));
    }

    private synchronized Round round() {
        if (closed) {
            return new Round(clock.instant(), Optional.empty(), Optional.empty(), "the probe is closed");
        }
        if (!newest.isFresh(clock.instant())) {
            newest = look(tool, clock, host);
        }
        return newest;
    }

    private static Round look(SmiTool tool, InstantSource clock, Supplier<Optional<HostMemory>> host) {
        Answer answer = tool.run(XML);
        if (answer.output().isEmpty()) {
            // A tool that hangs or is not there will not do better when asked for something else.
            return new Round(clock.instant(), Optional.empty(), Optional.empty(), answer.failure());
        }
        List<SmiReport> reports = new ArrayList<>();
        SmiReport report = SmiOutput.parse(answer.output().get());
        reports.add(report);
        if (report.gpus().isEmpty()) {
            add(tool, PROCESSES, reports);
            add(tool, GPUS, reports);
        }
        boolean namesAreMissing = reports.stream()
                .flatMap(one -> one.gpus().stream())
                .anyMatch(gpu -> gpu.mig().isOn() || gpu.id().index().isEmpty());
        if (namesAreMissing) {
            add(tool, LIST, reports);
        }
        SmiReport joined = SmiReports.join(reports);
        SmiDevices seen = SmiDevices.of(joined, host.get());
        return new Round(clock.instant(), Optional.of(joined), Optional.of(seen), "");
    }

    private static void add(SmiTool tool, List<String> arguments, List<SmiReport> reports) {
        Answer answer = tool.run(arguments);
        reports.add(answer.output().map(SmiOutput::parse).orElseGet(() -> SmiReport.nothing(answer.failure())));
    }

    /** The tool keeps nothing open between its runs. */
    @Override
    public synchronized void close() {
        closed = true;
    }
}
