package dev.ullage.worker.probe;

import dev.ullage.worker.probe.NvmlRecording.Answer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;

/**
 * NVML as a recording has it. A call that was recorded several times is answered in that order, and with the last one
 * from then on. A call that nobody recorded is answered as by a library that does not have it, except for what a
 * recording written by hand usually leaves out ({@link NvmlRecording#madeUp()}).
 *
 * <p>Threads: any, devices are looked at on several at once.
 */
final class RecordedNvmlCalls implements NvmlCalls {
    private static final String ABSENT = "not in the recording";
    /** More than a card and its places have: {@link NvmlTarget} knows places below 10,000. */
    private static final long HANDLES = 20_000;

    private final NvmlRecording recording;
    private final Map<String, Integer> given = new TreeMap<>();

    RecordedNvmlCalls(NvmlRecording recording) {
        this.recording = recording;
    }

    /** From 1, for an address of 0 is none; a card before its places. */
    private static NvmlHandle handle(NvmlTarget target) {
        int within = target.place().isPresent() ? target.place().getAsInt() + 1 : 0;
        return new NvmlHandle(target.index() * HANDLES + within + 1);
    }

    private static NvmlTarget target(NvmlHandle handle) {
        NvmlTarget card = NvmlTarget.card((int) ((handle.address() - 1) / HANDLES));
        int within = (int) ((handle.address() - 1) % HANDLES);
        return within == 0 ? card : card.slice(within - 1);
    }

    private synchronized Answer next(String key, List<Answer> answers) {
        int at = given.merge(key, 1, Integer::sum) - 1;
        return answers.get(Math.min(at, answers.size() - 1));
    }

    private <T> NvmlAnswer<T> answer(String function, NvmlHandle device, NvmlShape<T> shape) {
        return answer(function, NvmlRecording.key(function, target(device)), shape);
    }

    private <T> NvmlAnswer<T> answer(String function, String key, NvmlShape<T> shape) {
        List<Answer> recorded = recording.answers(key);
        if (recorded.isEmpty()) {
            NvmlReturn code = recording.has(function) ? NvmlReturn.UNKNOWN : NvmlReturn.FUNCTION_NOT_FOUND;
            return NvmlAnswer.failed(function, code.code(), ABSENT);
        }
        Answer answer = next(key, recorded);
        if (answer.code().isEmpty()) {
            return NvmlAnswer.failed(
                    function, NvmlReturn.TIMEOUT.code(), "it had not come back when this was recorded");
        }
        return answer.code().equals(OptionalInt.of(NvmlReturn.SUCCESS.code()))
                ? NvmlAnswer.success(
                        function, shape.read().apply(new NvmlFields(answer.fields(), "", new ArrayList<>())))
                : NvmlAnswer.failed(function, answer.code().getAsInt(), answer.why());
    }

    private <T> NvmlAnswer<T> or(NvmlAnswer<T> answer, String function, T otherwise) {
        return recording.has(function) ? answer : NvmlAnswer.success(function, otherwise);
    }

    private static <T> NvmlAnswer<T> absent(String function) {
        return NvmlAnswer.failed(function, NvmlReturn.FUNCTION_NOT_FOUND.code(), ABSENT);
    }

    @Override
    public NvmlAnswer<Boolean> initialise() {
        return or(answer(NvmlShape.INIT, NvmlRecording.key(NvmlShape.INIT), NvmlShape.DONE), NvmlShape.INIT, true);
    }

    @Override
    public NvmlAnswer<Boolean> shutdown() {
        return NvmlAnswer.success("nvmlShutdown", true);
    }

    @Override
    public NvmlAnswer<String> driverVersion() {
        return answer(NvmlShape.DRIVER, NvmlRecording.key(NvmlShape.DRIVER), NvmlShape.VERSION);
    }

    @Override
    public NvmlAnswer<Integer> deviceCount() {
        return or(
                answer(NvmlShape.DEVICES, NvmlRecording.key(NvmlShape.DEVICES), NvmlShape.COUNT),
                NvmlShape.DEVICES,
                recording.devices());
    }

    @Override
    public NvmlAnswer<NvmlHandle> handle(int index) {
        NvmlTarget card = NvmlTarget.card(index);
        return withHandle(or(answer(NvmlShape.CARD, handle(card), NvmlShape.DONE), NvmlShape.CARD, true), handle(card));
    }

    private static NvmlAnswer<NvmlHandle> withHandle(NvmlAnswer<Boolean> answer, NvmlHandle handle) {
        return new NvmlAnswer<>(
                answer.call(),
                answer.code(),
                answer.explanation(),
                answer.value().map(done -> handle));
    }

    @Override
    public NvmlAnswer<String> name(NvmlHandle device) {
        return answer(NvmlShape.NAME_CALL, device, NvmlShape.NAME);
    }

    @Override
    public NvmlAnswer<String> uuid(NvmlHandle device) {
        NvmlTarget target = target(device);
        String kind = target.place().isPresent() ? "MIG" : "GPU";
        return or(
                answer(NvmlShape.UUID_CALL, device, NvmlShape.UUID),
                NvmlShape.UUID_CALL,
                kind + "-not-recorded-" + target);
    }

    @Override
    public NvmlAnswer<String> pciBusId(NvmlHandle device) {
        return answer(NvmlShape.BUS_CALL, device, NvmlShape.BUS_ID);
    }

    @Override
    public NvmlAnswer<Boolean> migEnabled(NvmlHandle device) {
        return answer(NvmlShape.MIG_MODE, device, NvmlShape.MODE);
    }

    @Override
    public NvmlAnswer<RawMemory> memoryV2(NvmlHandle device) {
        return answer(NvmlShape.MEMORY_2, device, NvmlShape.MEMORY_V2);
    }

    @Override
    public NvmlAnswer<RawMemory> memoryV1(NvmlHandle device) {
        return answer(NvmlShape.MEMORY_1, device, NvmlShape.MEMORY_V1);
    }

    @Override
    public NvmlAnswer<Integer> maxMigDevices(NvmlHandle device) {
        return answer(NvmlShape.MOST_SLICES, device, NvmlShape.COUNT);
    }

    /** A place that nobody recorded is empty. */
    @Override
    public NvmlAnswer<NvmlHandle> migDevice(NvmlHandle device, int index) {
        NvmlTarget slice = target(device).slice(index);
        if (recording.answers(NvmlRecording.key(NvmlShape.SLICE, slice)).isEmpty()) {
            return NvmlAnswer.failed(NvmlShape.SLICE, NvmlReturn.NOT_FOUND.code(), ABSENT);
        }
        return withHandle(answer(NvmlShape.SLICE, handle(slice), NvmlShape.DONE), handle(slice));
    }

    @Override
    public NvmlAnswer<NvmlHandle> parentOf(NvmlHandle mig) {
        return withHandle(
                or(answer(NvmlShape.PARENT, mig, NvmlShape.DONE), NvmlShape.PARENT, true),
                handle(target(mig).card()));
    }

    @Override
    public NvmlAnswer<Integer> gpuInstance(NvmlHandle mig) {
        return answer(NvmlShape.GPU_INSTANCE_CALL, mig, NvmlShape.ID);
    }

    @Override
    public NvmlAnswer<Integer> computeInstance(NvmlHandle mig) {
        return answer(NvmlShape.COMPUTE_INSTANCE_CALL, mig, NvmlShape.ID);
    }

    @Override
    public NvmlAnswer<RawAttributes> attributes(NvmlHandle mig) {
        return answer(NvmlShape.ATTRIBUTES_CALL, mig, NvmlShape.ATTRIBUTES);
    }

    @Override
    public NvmlAnswer<List<RawProcess>> computeProcesses(ProcessCalls generation, NvmlHandle device) {
        return answer(generation.named(NvmlShape.COMPUTE), device, NvmlShape.PROCESSES);
    }

    @Override
    public NvmlAnswer<List<RawProcess>> graphicsProcesses(ProcessCalls generation, NvmlHandle device) {
        boolean isRecorded =
                List.of(ProcessCalls.values()).stream().anyMatch(any -> recording.has(any.named(NvmlShape.GRAPHICS)));
        String function = generation.named(NvmlShape.GRAPHICS);
        return isRecorded
                ? answer(function, device, NvmlShape.PROCESSES)
                : NvmlAnswer.failed(function, NvmlReturn.NOT_SUPPORTED.code(), ABSENT);
    }

    @Override
    public NvmlAnswer<RawLimits> memoryLimits(NvmlHandle device, String cgroup) {
        return absent("nvmlDeviceGetMemoryLimits_v1");
    }

    @Override
    public NvmlAnswer<Boolean> setMemoryLimits(NvmlHandle device, String cgroup, long soft, long hard) {
        return absent("nvmlDeviceSetMemoryLimits_v1");
    }

    @Override
    public NvmlAnswer<NvmlHandle> createEventSet() {
        return absent("nvmlEventSetCreate");
    }

    @Override
    public NvmlAnswer<Boolean> registerXid(NvmlHandle device, NvmlHandle set) {
        return absent("nvmlDeviceRegisterEvents");
    }

    @Override
    public NvmlAnswer<RawEvent> waitForEvent(NvmlHandle set, int timeoutMillis) {
        return absent("nvmlEventSetWait_v2");
    }

    @Override
    public NvmlAnswer<Boolean> freeEventSet(NvmlHandle set) {
        return absent("nvmlEventSetFree");
    }
}
