package dev.ullage.worker.probe;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * NVIDIA devices, read through NVML. Makes no CUDA context and so costs no device memory.
 *
 * <p>Threads: as {@link GpuProbe} says; NVML itself is thread safe. State, all of it soft: the devices found when last
 * looked for, what the library can do ({@link NvmlReader}), Xid errors seen. The library stays loaded after
 * {@link #close()}, because another thread may still be inside it.
 *
 * <p>A device in MIG mode is not in {@link #devices()}: its memory belongs to its instances, which are. If the mode is
 * switched on later, its readings have no memory from then on, and the next {@link #rescan()} finds the instances.
 */
public final class NvmlProbe implements GpuProbe {
    /** What the driver installs. The name without a version is part of a development package and often missing. */
    public static final String DEFAULT_LIBRARY = "libnvidia-ml.so.1";

    private static final Duration REPLAY_WITHIN = Duration.ofSeconds(30);

    private final NvmlCalls calls;
    private final String description;
    private final NvmlReader reader;
    private final NvmlScan scan;
    private final NvmlXids xids;
    private final CudaFacts cuda;
    private final Map<DeviceId, DeviceInfo> lastSeen = new ConcurrentHashMap<>();
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile NvmlDevices found = NvmlDevices.NONE;

    private NvmlProbe(NvmlCalls calls, String description, NvmlHost host) {
        this.calls = calls;
        this.description = description;
        this.reader = new NvmlReader(calls, host);
        this.scan = new NvmlScan(calls, reader, host);
        this.xids = new NvmlXids(calls);
        this.cuda = host.cuda();
    }

    /**
     * A probe on the given library, with the devices it has now.
     *
     * @param library a name for the system's loader, {@link #DEFAULT_LIBRARY} for one, or a path
     */
    public static NvmlProbe open(String library) throws ProbeUnavailableException {
        return open(library, NvmlHost.real(new JCudaFacts()));
    }

    static NvmlProbe open(String library, NvmlHost host) throws ProbeUnavailableException {
        return start(NvmlLoader.load(library), library, host);
    }

    /** As {@link #open(String)}, with everything that is called and answered written down. */
    public static NvmlProbe recorded(String library, NvmlRecorder recorder) throws ProbeUnavailableException {
        return recorded(library, recorder, NvmlHost.real(new JCudaFacts()));
    }

    static NvmlProbe recorded(String library, NvmlRecorder recorder, NvmlHost host) throws ProbeUnavailableException {
        return start(recorder.around(NvmlLoader.load(library)), library, recorder.around(host));
    }

    /**
     * A probe on what was recorded elsewhere; nothing is loaded.
     *
     * @param host the memory of that host, where the recording does not say
     */
    public static NvmlProbe replayed(NvmlRecording recording, Optional<HostMemory> host)
            throws ProbeUnavailableException {
        Optional<HostMemory> memory = recording.host().or(() -> host);
        return start(
                new RecordedNvmlCalls(recording),
                "the recording",
                new NvmlHost(() -> memory, recording.cuda(), REPLAY_WITHIN));
    }

    private static NvmlProbe start(NvmlCalls calls, String library, NvmlHost host) throws ProbeUnavailableException {
        NvmlLoader.start(calls, library);
        NvmlAnswer<Integer> count = count(calls);
        if (!count.isSuccess()) {
            calls.shutdown();
            throw NvmlLoader.because(
                    ProbeUnavailableException.Reason.NVML_FAILED,
                    count,
                    "the number of devices cannot be had",
                    NvmlLoader.LOOK_AT_THE_DRIVER);
        }
        String driver = calls.driverVersion()
                .value()
                .map(version -> "driver " + version)
                .orElse("unknown driver");
        NvmlProbe probe = new NvmlProbe(calls, "NVML, " + driver, host);
        probe.look(count.value().orElse(0));
        return probe;
    }

    private static NvmlAnswer<Integer> count(NvmlCalls calls) {
        NvmlAnswer<Integer> answer = calls.deviceCount();
        long devices = Integer.toUnsignedLong(answer.value().orElse(0));
        return devices <= NvmlScan.MAX_DEVICES
                ? answer
                : NvmlAnswer.failed(answer.call(), answer.code(), Counts.of(devices, "device") + ", which cannot be");
    }

    private void look(int count) {
        NvmlDevices now = scan.find(count, found);
        now.devices().forEach(device -> lastSeen.put(device.id(), device));
        found = now;
        xids.listen(now);
    }

    @Override
    public String description() {
        return description;
    }

    @Override
    public List<DeviceInfo> devices() {
        return found.devices();
    }

    @Override
    public List<DeviceInfo> rescan() {
        if (!closed.get()) {
            count(calls).value().ifPresent(this::look);
        }
        return found.devices();
    }

    @Override
    public List<DeviceProblem> problems() {
        return found.problems();
    }

    @Override
    public Optional<String> retired(DeviceId id) {
        NvmlDevices now = found;
        return Optional.ofNullable(lastSeen.get(id))
                .filter(last -> now.find(id).isEmpty())
                .flatMap(now::retired);
    }

    /** Empty, too, where CUDA does not list each device: this process may be shown fewer than there are. */
    @Override
    public Optional<List<DeviceId>> fastestFirst() {
        List<DeviceId> order = cuda.numbered();
        boolean isWhole = found.devices().stream()
                .filter(device -> device.kind() != DeviceKind.MIG)
                .allMatch(device -> order.contains(device.id()));
        return isWhole ? Optional.of(order) : Optional.empty();
    }

    @Override
    public Optional<DriverLimits> driverLimits() {
        return Optional.of(new NvmlLimits(calls, id -> closed.get() ? Optional.empty() : found.find(id)));
    }

    @Override
    public DeviceReading read(DeviceId id) {
        if (closed.get()) {
            return nothing("the probe is closed");
        }
        Optional<NvmlDevice> device = found.find(id);
        if (device.isPresent()) {
            return withXid(reader.read(device.get()), xids.problem(device.get()));
        }
        return Optional.ofNullable(lastSeen.get(id))
                .map(last -> nothing("device " + id + " is no longer listed: "
                        + found.retired(last).orElseGet(() -> found.problemsOf(id, last.index()))))
                .orElseGet(() -> nothing("device " + id + " is not one of this probe's devices"));
    }

    private static DeviceReading withXid(DeviceReading reading, Optional<String> xid) {
        if (xid.isEmpty()) {
            return reading;
        }
        List<String> problems = new ArrayList<>(reading.problems());
        problems.add(xid.get());
        return new DeviceReading(reading.memory(), reading.processes(), problems);
    }

    private static DeviceReading nothing(String problem) {
        return new DeviceReading(Optional.empty(), Optional.empty(), List.of(problem));
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            xids.close();
            calls.shutdown();
        }
    }
}
