package dev.ullage.worker.probe;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.MigSlice;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Finds devices by what people call them. Pure. */
final class DeviceNames {
    private static final int MAX_LISTED = 16;
    private static final int MAX_QUOTED_LENGTH = 60;

    private DeviceNames() {}

    /** The device found, or why there is not exactly one. */
    record Match(Optional<DeviceInfo> device, String why) {
        static Match of(DeviceInfo device) {
            return new Match(Optional.of(device), "");
        }

        static Match none(String why) {
            return new Match(Optional.empty(), why);
        }
    }

    /** By UUID, or by a beginning that only one device has. */
    static Match byId(String text, List<DeviceInfo> devices) {
        Optional<DeviceInfo> exact = devices.stream()
                .filter(device -> device.id().value().equals(text))
                .findFirst();
        if (exact.isPresent()) {
            return Match.of(exact.get());
        }
        List<DeviceInfo> candidates = devices.stream()
                .filter(device -> device.id().value().startsWith(text))
                .toList();
        if (candidates.size() == 1) {
            return Match.of(candidates.get(0));
        }
        return Match.none(
                candidates.isEmpty()
                        ? "no device of this worker has such a UUID"
                        : Counts.of(candidates.size(), "device") + " of this worker have a UUID that begins so");
    }

    /** By UUID, the beginning of one, or the name that an instance had before it had a UUID. */
    static Match byUuid(String text, List<DeviceInfo> devices) {
        return devices.stream()
                .filter(device -> device.mig().flatMap(DeviceNames::oldName).equals(Optional.of(text)))
                .findFirst()
                .map(Match::of)
                .orElseGet(() -> byId(text, devices));
    }

    /** {@code MIG-GPU-<uuid of the GPU>/<GPU instance>/<compute instance>}, which CUDA still takes. */
    private static Optional<String> oldName(MigSlice slice) {
        return slice.gpuInstance().isPresent() && slice.computeInstance().isPresent()
                ? Optional.of("MIG-%s/%d/%d"
                        .formatted(
                                slice.parent(),
                                slice.gpuInstance().getAsInt(),
                                slice.computeInstance().getAsInt()))
                : Optional.empty();
    }

    /** By the driver's index. An instance of a device in MIG mode has no index of its own. */
    static Match byIndex(long index, List<DeviceInfo> devices) {
        return devices.stream()
                .filter(device -> device.kind() != DeviceKind.MIG && device.index() == index)
                .findFirst()
                .map(Match::of)
                .orElseGet(() -> Match.none("no device of this worker has this index"));
    }

    /** {@code 4 devices (0 to 3)}, {@code 2 devices (0, 2)}, {@code 1 device (MIG-...)}, {@code no devices}. */
    static String listed(List<DeviceInfo> devices) {
        if (devices.isEmpty()) {
            return "no devices";
        }
        String count = Counts.of(devices.size(), "device");
        int first = devices.get(0).index();
        boolean isRange = devices.size() > 2;
        for (int i = 0; i < devices.size(); i++) {
            isRange &= devices.get(i).kind() != DeviceKind.MIG && devices.get(i).index() == first + i;
        }
        if (isRange) {
            return "%s (%d to %d)".formatted(count, first, first + devices.size() - 1);
        }
        String names = devices.stream()
                .limit(MAX_LISTED)
                .map(device -> device.kind() == DeviceKind.MIG ? device.id().value() : Integer.toString(device.index()))
                .collect(Collectors.joining(", "));
        return "%s (%s%s)".formatted(count, names, devices.size() > MAX_LISTED ? ", ..." : "");
    }

    /** A value from somebody's environment, fit for one line of a message. */
    static String quoted(String value) {
        String line = value.length() <= MAX_QUOTED_LENGTH ? value : value.substring(0, MAX_QUOTED_LENGTH) + "...";
        return "'" + line.replaceAll("\\p{Cntrl}", "?") + "'";
    }
}
