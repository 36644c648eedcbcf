package dev.ullage.worker.probe;

import com.sun.jna.Pointer;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The devices that NVML lists. Each is looked at by itself: one that is lost neither hides the others nor changes their
 * indices.
 *
 * @param devices those that can be allocated on, by index
 * @param problems those that cannot, and what is not known about the others
 * @param handles NVML's handle of each of {@code devices}
 */
record NvmlDevices(List<DeviceInfo> devices, List<DeviceProblem> problems, Map<DeviceId, Pointer> handles) {
    static final String IN_MIG_MODE =
            "the device is in MIG mode: its memory belongs to its instances and it is not allocated on itself";

    /** Answers to the question for the MIG mode that mean: this device or driver has no such mode. */
    static final Set<NvmlReturn> HAS_NO_MIG = EnumSet.of(NvmlReturn.NOT_SUPPORTED, NvmlReturn.FUNCTION_NOT_FOUND);

    private static final int MAX_DEVICES = 1024;
    private static final String UNKNOWN_NAME = "unknown NVIDIA device";

    NvmlDevices {
        devices = List.copyOf(devices);
        problems = List.copyOf(problems);
        handles = Collections.unmodifiableMap(new TreeMap<>(handles));
    }

    static NvmlDevices find(NvmlCalls calls, int count) {
        Search search = new Search(calls);
        for (int index = 0; index < Math.min(count, MAX_DEVICES); index++) {
            search.look(index);
        }
        if (count > MAX_DEVICES) {
            search.leaveOut(
                    MAX_DEVICES,
                    "the driver lists %d devices, only the first %d are used".formatted(count, MAX_DEVICES));
        }
        return new NvmlDevices(search.devices, search.problems, search.handles);
    }

    /** One pass over the indices; lives for as long as it takes. */
    private static final class Search {
        private final NvmlCalls calls;
        private final List<DeviceInfo> devices = new ArrayList<>();
        private final List<DeviceProblem> problems = new ArrayList<>();
        private final Map<DeviceId, Pointer> handles = new TreeMap<>();

        Search(NvmlCalls calls) {
            this.calls = calls;
        }

        void look(int index) {
            NvmlAnswer<Pointer> handle = calls.handle(index);
            if (handle.value().isEmpty()) {
                leaveOut(index, handle.failure() + "; the device is left out");
                return;
            }
            Pointer device = handle.value().get();
            NvmlAnswer<String> uuid = calls.uuid(device);
            if (uuid.value().isEmpty()) {
                leaveOut(index, uuid.failure() + "; a device without a UUID is left out");
                return;
            }
            try {
                look(index, device, new DeviceId(uuid.value().get()));
            } catch (IllegalArgumentException e) {
                leaveOut(index, "nvmlDeviceGetUUID: " + e.getMessage() + "; the device is left out");
            }
        }

        private void look(int index, Pointer device, DeviceId id) {
            if (handles.containsKey(id)) {
                problems.add(new DeviceProblem(
                        index, Optional.of(id), false, "an earlier device has the same UUID; this one is left out"));
                return;
            }
            NvmlAnswer<Boolean> mig = calls.migEnabled(device);
            if (mig.value().orElse(false)) {
                problems.add(new DeviceProblem(index, Optional.of(id), false, IN_MIG_MODE));
                return;
            }
            NvmlAnswer<String> name = calls.name(device);
            NvmlAnswer<String> pciBusId = calls.pciBusId(device);
            noteUnlessKnown(index, id, name, "its name is unknown");
            if (pciBusId.outcome() != NvmlReturn.NOT_SUPPORTED) {
                noteUnlessKnown(index, id, pciBusId, "its PCI bus id is unknown");
            }
            devices.add(new DeviceInfo(
                    id,
                    index,
                    name.value().orElse(UNKNOWN_NAME),
                    DeviceKind.DISCRETE,
                    pciBusId.value().filter(text -> !text.isEmpty())));
            handles.put(id, device);
        }

        private void noteUnlessKnown(int index, DeviceId id, NvmlAnswer<?> answer, String consequence) {
            if (!answer.isSuccess()) {
                problems.add(new DeviceProblem(index, Optional.of(id), true, answer.failure() + "; " + consequence));
            }
        }

        private void leaveOut(int index, String text) {
            problems.add(new DeviceProblem(index, Optional.empty(), false, text));
        }
    }
}
