package dev.ullage.worker.probe;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Writes down every call of NVML in a round of readings with what it answered, and what else the reading went by: the
 * host's memory, once, and CUDA's word. Pids are written, names and command lines are not known to NVML. What
 * {@link NvmlRecording} reads.
 *
 * <p>Threads: any. A call that has not come back is in the recording as one that has not. Events are not listened for
 * and limits are not touched while recording.
 */
public final class NvmlRecorder {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final String NOT_WHILE_RECORDING = "not while recording";

    private final List<ObjectNode> calls = new ArrayList<>();
    private final Map<NvmlHandle, NvmlTarget> targets = new ConcurrentHashMap<>();
    private final Map<String, Boolean> integrated = new TreeMap<>();
    private final Map<String, Long> totals = new TreeMap<>();
    private Optional<String> cuda = Optional.empty();
    private Optional<HostMemory> host = Optional.empty();
    private boolean isHostKnown;

    NvmlCalls around(NvmlCalls library) {
        return new Recorded(library);
    }

    NvmlHost around(NvmlHost of) {
        return new NvmlHost(() -> memory(of), new RecordedFacts(of.cuda()), of.lookWithin());
    }

    /** Asked once, so that the same figure is behind everything in the recording. */
    private synchronized Optional<HostMemory> memory(NvmlHost of) {
        if (!isHostKnown) {
            host = of.memory().get();
            isHostKnown = true;
        }
        return host;
    }

    /** How many calls were made. */
    public synchronized int size() {
        return calls.size();
    }

    /** The recording so far, a call on each line. */
    public synchronized String json() {
        ObjectNode head = NODES.objectNode();
        head.put("format", NvmlRecordingReader.FORMAT);
        host.ifPresent(memory -> head.putObject("host")
                .put("memTotalBytes", memory.total().value())
                .put("memAvailableBytes", memory.available().value()));
        cuda.ifPresent(description -> {
            ObjectNode facts = head.putObject("cuda").put("description", description);
            integrated.forEach(facts.putObject("integrated")::put);
            if (!totals.isEmpty()) {
                totals.forEach(facts.putObject("totalBytes")::put);
            }
        });
        String fields = head.properties().stream()
                .map(field -> " " + NODES.textNode(field.getKey()) + ": " + field.getValue() + ",\n")
                .collect(Collectors.joining());
        String lines = calls.stream().map(call -> "  " + call).collect(Collectors.joining(",\n"));
        return "{\n" + fields + " \"calls\": [\n" + lines + "\n ]\n}\n";
    }

    private synchronized ObjectNode begin(String call) {
        ObjectNode entry = NODES.objectNode().put("fn", call).putNull("rc");
        calls.add(entry);
        return entry;
    }

    private synchronized <T> void end(ObjectNode entry, NvmlAnswer<T> answer, NvmlShape<T> shape) {
        entry.put("rc", answer.code());
        answer.value().ifPresent(value -> shape.write().accept(value, entry));
        if (!answer.isSuccess()) {
            entry.put("why", answer.explanation());
        }
    }

    private <T> NvmlAnswer<T> record(String call, NvmlShape<T> shape, Supplier<NvmlAnswer<T>> library) {
        ObjectNode entry = begin(call);
        NvmlAnswer<T> answer = library.get();
        end(entry, answer, shape);
        return answer;
    }

    /** A handle is not written: whom it is of is in the parentheses. */
    private NvmlAnswer<NvmlHandle> recordHandle(
            String function, NvmlTarget target, Supplier<NvmlAnswer<NvmlHandle>> library) {
        ObjectNode entry = begin(NvmlRecording.key(function, target));
        NvmlAnswer<NvmlHandle> answer = library.get();
        answer.value().ifPresent(handle -> targets.putIfAbsent(handle, target));
        end(
                entry,
                new NvmlAnswer<>(
                        answer.call(),
                        answer.code(),
                        answer.explanation(),
                        answer.value().map(handle -> true)),
                NvmlShape.DONE);
        return answer;
    }

    private NvmlTarget target(NvmlHandle handle) {
        return Optional.ofNullable(targets.get(handle))
                .orElseThrow(() -> new IllegalStateException("a handle that NVML never gave: " + handle));
    }

    private final class RecordedFacts implements CudaFacts {
        private final CudaFacts facts;

        RecordedFacts(CudaFacts facts) {
            this.facts = facts;
        }

        @Override
        public Optional<Boolean> isIntegrated(DeviceId device) {
            Optional<Boolean> answer = facts.isIntegrated(device);
            synchronized (NvmlRecorder.this) {
                cuda = Optional.of(facts.description());
                answer.ifPresent(is -> integrated.put(device.value(), is));
            }
            return answer;
        }

        @Override
        public Optional<MemoryBytes> total(DeviceId device) {
            Optional<MemoryBytes> answer = facts.total(device);
            synchronized (NvmlRecorder.this) {
                cuda = Optional.of(facts.description());
                answer.ifPresent(bytes -> totals.put(device.value(), bytes.value()));
            }
            return answer;
        }

        @Override
        public List<DeviceId> numbered() {
            return facts.numbered();
        }

        @Override
        public String description() {
            return facts.description();
        }
    }

    private final class Recorded implements NvmlCalls {
        private final NvmlCalls library;

        Recorded(NvmlCalls library) {
            this.library = library;
        }

        private <T> NvmlAnswer<T> of(
                NvmlHandle device, String function, NvmlShape<T> shape, Supplier<NvmlAnswer<T>> call) {
            return record(NvmlRecording.key(function, target(device)), shape, call);
        }

        @Override
        public NvmlAnswer<Boolean> initialise() {
            return record(NvmlShape.INIT, NvmlShape.DONE, library::initialise);
        }

        @Override
        public NvmlAnswer<Boolean> shutdown() {
            return library.shutdown();
        }

        @Override
        public NvmlAnswer<String> driverVersion() {
            return record(NvmlShape.DRIVER, NvmlShape.VERSION, library::driverVersion);
        }

        @Override
        public NvmlAnswer<Integer> deviceCount() {
            return record(NvmlShape.DEVICES, NvmlShape.COUNT, library::deviceCount);
        }

        @Override
        public NvmlAnswer<NvmlHandle> handle(int index) {
            return recordHandle(NvmlShape.CARD, NvmlTarget.card(index), () -> library.handle(index));
        }

        @Override
        public NvmlAnswer<String> name(NvmlHandle device) {
            return of(device, NvmlShape.NAME_CALL, NvmlShape.NAME, () -> library.name(device));
        }

        @Override
        public NvmlAnswer<String> uuid(NvmlHandle device) {
            return of(device, NvmlShape.UUID_CALL, NvmlShape.UUID, () -> library.uuid(device));
        }

        @Override
        public NvmlAnswer<String> pciBusId(NvmlHandle device) {
            return of(device, NvmlShape.BUS_CALL, NvmlShape.BUS_ID, () -> library.pciBusId(device));
        }

        @Override
        public NvmlAnswer<Boolean> migEnabled(NvmlHandle device) {
            return of(device, NvmlShape.MIG_MODE, NvmlShape.MODE, () -> library.migEnabled(device));
        }

        @Override
        public NvmlAnswer<RawMemory> memoryV2(NvmlHandle device) {
            return of(device, NvmlShape.MEMORY_2, NvmlShape.MEMORY_V2, () -> library.memoryV2(device));
        }

        @Override
        public NvmlAnswer<RawMemory> memoryV1(NvmlHandle device) {
            return of(device, NvmlShape.MEMORY_1, NvmlShape.MEMORY_V1, () -> library.memoryV1(device));
        }

        @Override
        public NvmlAnswer<Integer> maxMigDevices(NvmlHandle device) {
            return of(device, NvmlShape.MOST_SLICES, NvmlShape.COUNT, () -> library.maxMigDevices(device));
        }

        @Override
        public NvmlAnswer<NvmlHandle> migDevice(NvmlHandle device, int index) {
            NvmlTarget slice = target(device).slice(index);
            return recordHandle(NvmlShape.SLICE, slice, () -> library.migDevice(device, index));
        }

        @Override
        public NvmlAnswer<NvmlHandle> parentOf(NvmlHandle mig) {
            NvmlTarget slice = target(mig);
            NvmlAnswer<NvmlHandle> answer = recordHandle(NvmlShape.PARENT, slice, () -> library.parentOf(mig));
            // What follows on this handle is about the card, whose handle it is.
            answer.value().ifPresent(card -> targets.put(card, slice.card()));
            return answer;
        }

        @Override
        public NvmlAnswer<Integer> gpuInstance(NvmlHandle mig) {
            return of(mig, NvmlShape.GPU_INSTANCE_CALL, NvmlShape.ID, () -> library.gpuInstance(mig));
        }

        @Override
        public NvmlAnswer<Integer> computeInstance(NvmlHandle mig) {
            return of(mig, NvmlShape.COMPUTE_INSTANCE_CALL, NvmlShape.ID, () -> library.computeInstance(mig));
        }

        @Override
        public NvmlAnswer<RawAttributes> attributes(NvmlHandle mig) {
            return of(mig, NvmlShape.ATTRIBUTES_CALL, NvmlShape.ATTRIBUTES, () -> library.attributes(mig));
        }

        @Override
        public NvmlAnswer<List<RawProcess>> computeProcesses(ProcessCalls generation, NvmlHandle device) {
            return of(
                    device,
                    generation.named(NvmlShape.COMPUTE),
                    NvmlShape.PROCESSES,
                    () -> library.computeProcesses(generation, device));
        }

        @Override
        public NvmlAnswer<List<RawProcess>> graphicsProcesses(ProcessCalls generation, NvmlHandle device) {
            return of(
                    device,
                    generation.named(NvmlShape.GRAPHICS),
                    NvmlShape.PROCESSES,
                    () -> library.graphicsProcesses(generation, device));
        }

        @Override
        public NvmlAnswer<RawLimits> memoryLimits(NvmlHandle device, String cgroup) {
            return refused("nvmlDeviceGetMemoryLimits_v1");
        }

        @Override
        public NvmlAnswer<Boolean> setMemoryLimits(NvmlHandle device, String cgroup, long soft, long hard) {
            return refused("nvmlDeviceSetMemoryLimits_v1");
        }

        @Override
        public NvmlAnswer<NvmlHandle> createEventSet() {
            return refused("nvmlEventSetCreate");
        }

        @Override
        public NvmlAnswer<Boolean> registerXid(NvmlHandle device, NvmlHandle set) {
            return refused("nvmlDeviceRegisterEvents");
        }

        @Override
        public NvmlAnswer<RawEvent> waitForEvent(NvmlHandle set, int timeoutMillis) {
            return refused("nvmlEventSetWait_v2");
        }

        @Override
        public NvmlAnswer<Boolean> freeEventSet(NvmlHandle set) {
            return refused("nvmlEventSetFree");
        }

        private static <T> NvmlAnswer<T> refused(String function) {
            return NvmlAnswer.failed(function, NvmlReturn.NOT_SUPPORTED.code(), NOT_WHILE_RECORDING);
        }
    }
}
