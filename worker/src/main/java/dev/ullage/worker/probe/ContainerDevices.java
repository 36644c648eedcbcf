package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The devices that a container has, as {@code NVIDIA_VISIBLE_DEVICES} says: {@code all}, {@code none}, {@code void}, or
 * a list of indices, UUIDs and {@code index:instance}. Pure.
 *
 * <p>Inside, devices are numbered from 0 again. A list that names a device which this worker has not is about another
 * host's numbers, or about those outside of a container that the worker is in too: it is left aside with a warning.
 *
 * @param devices those of the container, with the worker's numbers
 * @param isRestricted whether they are fewer than the worker's, or numbered anew
 */
record ContainerDevices(List<DeviceInfo> devices, boolean isRestricted, List<String> warnings) {
    private static final String VARIABLE = "NVIDIA_VISIBLE_DEVICES ";
    private static final Set<String> NONE = Set.of("", "none", "void");
    private static final String ALL = "all";
    private static final Pattern INDEX = Pattern.compile("\\d{1,9}");
    private static final Pattern INSTANCE = Pattern.compile("(\\d{1,9}):(\\d{1,9})");
    private static final int MAX_TOKENS = 1024;

    static ContainerDevices of(Optional<String> variable, List<DeviceInfo> devices) {
        String value = variable.orElse(ALL).strip();
        // What does not exist is not given to a container either.
        boolean isSimulated = devices.stream().allMatch(device -> device.kind() == DeviceKind.SIMULATED);
        if (value.equals(ALL) || isSimulated) {
            return new ContainerDevices(devices, false, List.of());
        }
        if (NONE.contains(value)) {
            return new ContainerDevices(
                    List.of(), true, List.of(VARIABLE + DeviceNames.quoted(value) + " gives this container no device"));
        }
        List<DeviceInfo> found = new ArrayList<>();
        for (String token : List.of(value.split(",", MAX_TOKENS))) {
            Optional<DeviceInfo> device = device(token.strip(), devices);
            if (device.isEmpty()) {
                return new ContainerDevices(
                        devices,
                        false,
                        List.of("%s%s is left aside: this worker has no device %s"
                                .formatted(VARIABLE, DeviceNames.quoted(value), DeviceNames.quoted(token.strip()))));
            }
            found.add(device.get());
        }
        List<DeviceInfo> inOrder = devices.stream().filter(found::contains).toList();
        return new ContainerDevices(inOrder, inOrder.size() < devices.size(), List.of());
    }

    private static Optional<DeviceInfo> device(String token, List<DeviceInfo> devices) {
        if (INDEX.matcher(token).matches()) {
            return DeviceNames.byIndex(Long.parseLong(token), devices).device();
        }
        Matcher instance = INSTANCE.matcher(token);
        if (!instance.matches()) {
            return token.isEmpty()
                    ? Optional.empty()
                    : DeviceNames.byId(token, devices).device();
        }
        return devices.stream()
                .filter(device -> device.kind() == DeviceKind.MIG)
                .filter(device -> device.index() == Integer.parseInt(instance.group(1)))
                .skip(Integer.parseInt(instance.group(2)))
                .findFirst();
    }

    /** As the processes of the container number them. */
    List<DeviceInfo> renumbered() {
        List<DeviceInfo> inside = new ArrayList<>();
        for (DeviceInfo device : devices) {
            inside.add(new DeviceInfo(
                    device.id(), inside.size(), device.name(), device.kind(), device.pciBusId(), device.mig()));
        }
        return inside;
    }
}
