package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.MigSlice;
import dev.ullage.worker.probe.NvmlCalls.RawMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Looks at one of the driver's indices: a GPU, or the MIG instances it is cut into. Looks at nothing else, so that a
 * lost one neither hides nor renumbers the others. Lives for one look.
 */
final class NvmlSearch {
    /** More than any card can be cut into. */
    private static final int MAX_SLICES = 64;

    private static final String UNKNOWN_NAME = "unknown NVIDIA device";

    private final NvmlCalls calls;
    private final NvmlReader reader;
    private final NvmlHost host;
    private final int index;
    private final NvmlDevices before;
    private final List<NvmlDevice> found = new ArrayList<>();
    private final List<DeviceProblem> problems = new ArrayList<>();

    private NvmlSearch(NvmlCalls calls, NvmlReader reader, NvmlHost host, int index, NvmlDevices before) {
        this.calls = calls;
        this.reader = reader;
        this.host = host;
        this.index = index;
        this.before = before;
    }

    /** @param before what the last look at all indices found */
    static NvmlDevices look(NvmlCalls calls, NvmlReader reader, NvmlHost host, int index, NvmlDevices before) {
        NvmlSearch search = new NvmlSearch(calls, reader, host, index, before);
        search.look();
        return new NvmlDevices(search.found, search.problems);
    }

    private void look() {
        NvmlAnswer<NvmlHandle> handle = calls.handle(index);
        if (handle.value().isEmpty()) {
            leaveOut(handle.failure() + "; the device is left out");
            return;
        }
        NvmlHandle card = handle.value().get();
        Optional<DeviceId> id = idOf(card, "a device");
        if (id.isEmpty()) {
            return;
        }
        NvmlReader.MemoryAnswers memory = reader.askMemory(card);
        NvmlAnswer<Boolean> mode = calls.migEnabled(card);
        boolean isMig = mode.value().orElse(false);
        boolean isModeUnknown = !mode.isSuccess() && !NvmlDevices.HAS_NO_MIG.contains(mode.outcome());
        // Inside a container that holds one slice, the card may not be asked and its mode may not be told.
        boolean isForbidden = memory.version2().outcome() == NvmlReturn.NO_PERMISSION
                || memory.version1()
                        .filter(answer -> answer.outcome() == NvmlReturn.NO_PERMISSION)
                        .isPresent();
        if (isMig || isForbidden || isModeUnknown) {
            lookAtSlices(card, id.get(), memory);
        }
        if (isModeUnknown && found.isEmpty()) {
            keepSlices(id.get(), mode);
        }
        if (isMig || !found.isEmpty()) {
            problems.add(new DeviceProblem(index, id, false, NvmlDevices.IN_MIG_MODE));
        } else {
            addWhole(card, id.get(), memory);
        }
    }

    /**
     * A card that was in MIG mode and no longer tells, as a lost one does, is not a whole device for that: its memory
     * would be given out a second time.
     */
    private void keepSlices(DeviceId card, NvmlAnswer<Boolean> mode) {
        before.found().stream()
                .filter(device -> device.info()
                        .mig()
                        .filter(slice -> slice.parent().equals(card))
                        .isPresent())
                .forEach(found::add);
        if (!found.isEmpty()) {
            leaveOut(mode.failure() + "; whether it is in MIG mode is unknown, its instances stay as last seen");
        }
    }

    private Optional<DeviceId> idOf(NvmlHandle device, String what) {
        NvmlAnswer<String> uuid = calls.uuid(device);
        if (uuid.value().isEmpty()) {
            leaveOut(uuid.failure() + "; " + what + " without a UUID is left out");
            return Optional.empty();
        }
        try {
            return Optional.of(new DeviceId(uuid.value().get()));
        } catch (IllegalArgumentException e) {
            leaveOut("nvmlDeviceGetUUID: " + e.getMessage() + "; " + what + " is left out");
            return Optional.empty();
        }
    }

    private void addWhole(NvmlHandle card, DeviceId id, NvmlReader.MemoryAnswers memory) {
        String name = nameOf(card, id);
        Optional<String> bus = busOf(card, id);
        NvmlDevice device = NvmlDevice.whole(new DeviceInfo(id, index, name, DeviceKind.DISCRETE, bus), card);
        found.add(
                isUnified(device, memory)
                        ? NvmlDevice.whole(new DeviceInfo(id, index, name, DeviceKind.UNIFIED, bus), card)
                        : device);
    }

    private boolean isUnified(NvmlDevice device, NvmlReader.MemoryAnswers answers) {
        Optional<HostMemory> memory = host.memory().get();
        NvmlAnswer<RawMemory> version1 = answers.version1().orElse(answers.version2());
        if (!UnifiedMemory.isSuspected(answers.version2(), version1, memory)) {
            return false;
        }
        DeviceId id = device.info().id();
        Optional<Boolean> integrated = host.cuda().isIntegrated(id);
        Optional<List<ProcessUse>> processes = reader.processes(device, new ArrayList<>());
        boolean isUnified = UnifiedMemory.isConfirmed(integrated, processes, memory);
        if (integrated.isEmpty()) {
            note(
                    id,
                    "whether it shares the host's memory is judged by NVML alone (%s): %s"
                            .formatted(
                                    host.cuda().description(),
                                    isUnified
                                            ? "it does, as its processes are known"
                                            : "not known, so its memory is unknown"));
        }
        return isUnified;
    }

    private void lookAtSlices(NvmlHandle card, DeviceId cardId, NvmlReader.MemoryAnswers memory) {
        NvmlAnswer<Integer> most = calls.maxMigDevices(card);
        if (!most.isSuccess()) {
            if (!NvmlDevices.HAS_NO_MIG.contains(most.outcome())) {
                leaveOut(most.failure() + "; its MIG instances are unknown");
            }
            return;
        }
        long places = Integer.toUnsignedLong(most.value().orElse(0));
        for (int place = 0; place < Math.min(places, MAX_SLICES); place++) {
            NvmlAnswer<NvmlHandle> slice = calls.migDevice(card, place);
            if (slice.value().isPresent()) {
                addSlice(card, cardId, slice.value().get(), memory);
            } else if (slice.outcome() != NvmlReturn.NOT_FOUND) {
                leaveOut("MIG instance %d: %s; it is left out".formatted(place, slice.failure()));
            }
        }
        found.replaceAll(this::withSharers);
    }

    private void addSlice(NvmlHandle card, DeviceId cardId, NvmlHandle slice, NvmlReader.MemoryAnswers cardMemory) {
        Optional<DeviceId> id = idOf(slice, "a MIG instance");
        if (id.isEmpty()) {
            return;
        }
        NvmlHandle parent = calls.parentOf(slice).value().orElse(card);
        String name = nameOf(slice, id.get());
        Optional<String> profile = MigProfile.inName(name)
                .or(() -> calls.attributes(slice).value().flatMap(attributes -> total(cardMemory)
                        .flatMap(total -> MigProfile.of(attributes, total))));
        MigSlice mig = new MigSlice(
                cardId,
                idNumber(calls.gpuInstance(slice), id.get()),
                idNumber(calls.computeInstance(slice), id.get()),
                profile);
        DeviceInfo info =
                new DeviceInfo(id.get(), index, name, DeviceKind.MIG, busOf(parent, id.get()), Optional.of(mig));
        found.add(new NvmlDevice(info, slice, parent, 1));
    }

    private static Optional<MemoryBytes> total(NvmlReader.MemoryAnswers memory) {
        return memory.version2()
                .value()
                .or(() -> memory.version1().flatMap(NvmlAnswer::value))
                .filter(raw -> raw.total() > 0)
                .map(raw -> MemoryBytes.of(raw.total()));
    }

    private OptionalInt idNumber(NvmlAnswer<Integer> answer, DeviceId id) {
        noteUnlessKnown(id, answer, "which instance it is is unknown");
        Optional<Integer> number = answer.value();
        if (number.filter(value -> value < 0).isPresent()) {
            note(
                    id,
                    "%s: the id %s, which cannot be; which instance it is is unknown"
                            .formatted(answer.call(), Integer.toUnsignedString(number.get())));
            return OptionalInt.empty();
        }
        return number.isPresent() ? OptionalInt.of(number.get()) : OptionalInt.empty();
    }

    private NvmlDevice withSharers(NvmlDevice device) {
        OptionalInt instance = device.gpuInstance();
        if (instance.isEmpty()) {
            return device;
        }
        long sharers = found.stream()
                .filter(other -> other.gpuInstance().equals(instance))
                .count();
        return device.sharedWith((int) sharers);
    }

    private String nameOf(NvmlHandle device, DeviceId id) {
        NvmlAnswer<String> name = calls.name(device);
        noteUnlessKnown(id, name, "its name is unknown");
        return name.value().orElse(UNKNOWN_NAME);
    }

    private Optional<String> busOf(NvmlHandle device, DeviceId id) {
        NvmlAnswer<String> bus = calls.pciBusId(device);
        if (bus.outcome() != NvmlReturn.NOT_SUPPORTED) {
            noteUnlessKnown(id, bus, "its PCI bus id is unknown");
        }
        return bus.value().filter(text -> !text.isEmpty());
    }

    private void noteUnlessKnown(DeviceId id, NvmlAnswer<?> answer, String consequence) {
        if (!answer.isSuccess()) {
            note(id, answer.failure() + "; " + consequence);
        }
    }

    private void note(DeviceId id, String text) {
        problems.add(new DeviceProblem(index, Optional.of(id), true, text));
    }

    private void leaveOut(String text) {
        problems.add(new DeviceProblem(index, Optional.empty(), false, text));
    }
}
