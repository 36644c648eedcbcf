package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.worker.probe.DeviceNames.Match;
import dev.ullage.worker.probe.DeviceResolution.Refused;
import dev.ullage.worker.probe.DeviceResolution.Resolved;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * Finds the one device a rank will use. Pure. In this order:
 *
 * <ol>
 *   <li>the device the rank asks for by name;
 *   <li>the only device of a visible list of one, whatever the local rank: Slurm gives each task such a list;
 *   <li>the local rank's place in the visible list;
 *   <li>without a list, the device whose number is the local rank.
 * </ol>
 *
 * In a container all of this is about its own devices. What a number means {@link Ordinals} says.
 *
 * <p>A rank is never given some device because the right one cannot be told: it is refused, with what it asked for,
 * what there is, and what to set.
 */
public final class DeviceResolver {
    private static final Pattern INDEX = Pattern.compile("\\d{1,9}");
    private static final String REMEDY = "set CUDA_VISIBLE_DEVICES or ULLAGE_DEVICE";

    private DeviceResolver() {}

    /**
     * @param devices the worker's
     * @param fastestFirst the order in which CUDA numbers them unless it is told otherwise, where it can be had; asked
     *     only when a number cannot be told without
     */
    public static DeviceResolution resolve(
            DeviceRequest request, List<DeviceInfo> devices, Supplier<Optional<List<DeviceId>>> fastestFirst) {
        ContainerDevices container = ContainerDevices.of(request.containerDevices(), devices);
        DeviceResolution resolution = container.isRestricted()
                ? onHost(inContainer(request, container, fastestFirst), devices)
                : onHost(request, devices, fastestFirst);
        if (container.warnings().isEmpty()) {
            return resolution;
        }
        List<String> warnings = new ArrayList<>(container.warnings());
        warnings.addAll(resolution.warnings());
        return resolution instanceof Resolved resolved
                ? new Resolved(resolved.device(), warnings)
                : new Refused(((Refused) resolution).reason(), warnings);
    }

    /** A container's only device is its number 0, also when it is an instance, which has no number elsewhere. */
    private static DeviceResolution inContainer(
            DeviceRequest request, ContainerDevices container, Supplier<Optional<List<DeviceId>>> fastestFirst) {
        List<DeviceInfo> inside = container.renumbered();
        boolean wantsTheOnlyOne = request.device().isEmpty()
                && request.visibleDevices()
                        .map(list -> list.strip().equals("0"))
                        .orElse(true);
        if (inside.size() == 1 && wantsTheOnlyOne) {
            return new Resolved(inside.get(0), List.of());
        }
        if (inside.isEmpty()) {
            return new Refused(
                    "%s: %s; give it one, or set ULLAGE_DEVICE where devices came in another way"
                            .formatted(
                                    named(request.localRank()),
                                    container.warnings().get(0)),
                    List.of());
        }
        DeviceResolution resolution = onHost(request, inside, fastestFirst);
        return resolution instanceof Refused refused
                ? new Refused(
                        refused.reason()
                                + " (NVIDIA_VISIBLE_DEVICES gives the container %d of them, numbered from 0)"
                                        .formatted(inside.size()),
                        refused.warnings())
                : resolution;
    }

    /** The device found inside a container as the worker numbers it. */
    private static DeviceResolution onHost(DeviceResolution inside, List<DeviceInfo> devices) {
        if (inside instanceof Resolved resolved) {
            DeviceInfo device = devices.stream()
                    .filter(candidate -> candidate.id().equals(resolved.device().id()))
                    .findFirst()
                    .orElse(resolved.device());
            return new Resolved(device, resolved.warnings());
        }
        return inside;
    }

    private static DeviceResolution onHost(
            DeviceRequest request, List<DeviceInfo> devices, Supplier<Optional<List<DeviceId>>> fastestFirst) {
        Ordinals ordinals = Ordinals.of(devices, request.deviceOrder(), fastestFirst);
        Optional<VisibleDevices> visible = request.visibleDevices().map(list -> VisibleDevices.parse(list, ordinals));
        if (request.device().isPresent()) {
            return byName(request.device().get().strip(), visible, devices);
        }
        return visible.map(list -> byList(request, list, devices))
                .orElseGet(() -> byLocalRank(request.localRank(), ordinals));
    }

    private static DeviceResolution byName(String name, Optional<VisibleDevices> visible, List<DeviceInfo> devices) {
        List<String> warnings = visible.map(VisibleDevices::warnings).orElse(List.of());
        Match match = name.isEmpty()
                ? Match.none("it is empty; unset it or name a device")
                : INDEX.matcher(name).matches()
                        ? DeviceNames.byIndex(Long.parseLong(name), devices)
                        : DeviceNames.byId(name, devices);
        if (match.device().isEmpty()) {
            return new Refused(
                    "ULLAGE_DEVICE %s: %s; this worker has %s"
                            .formatted(DeviceNames.quoted(name), match.why(), DeviceNames.listed(devices)),
                    warnings);
        }
        DeviceInfo device = match.device().get();
        List<String> all = new ArrayList<>(warnings);
        visible.filter(list -> !list.devices().contains(device))
                .ifPresent(list -> all.add(
                        "ULLAGE_DEVICE %s is device %d, which CUDA_VISIBLE_DEVICES hides from the process; it leaves %s"
                                .formatted(DeviceNames.quoted(name), device.index(), list.listed())));
        return new Resolved(device, all);
    }

    private static DeviceResolution byList(DeviceRequest request, VisibleDevices visible, List<DeviceInfo> devices) {
        if (visible.isOneDevice()) {
            return new Resolved(visible.devices().get(0), visible.warnings());
        }
        OptionalInt localRank = request.localRank();
        if (localRank.isPresent() && localRank.getAsInt() < visible.devices().size()) {
            return new Resolved(visible.devices().get(localRank.getAsInt()), visible.warnings());
        }
        String reason = "%s: CUDA_VISIBLE_DEVICES=%s leaves %s of this worker's %s"
                .formatted(
                        named(localRank),
                        DeviceNames.quoted(request.visibleDevices().orElse("")),
                        visible.listed(),
                        DeviceNames.listed(devices));
        String because =
                visible.warnings().isEmpty() ? "" : ", as " + visible.warnings().get(0);
        return new Refused(reason + because + "; " + REMEDY, visible.warnings());
    }

    private static DeviceResolution byLocalRank(OptionalInt localRank, Ordinals ordinals) {
        Match match =
                localRank.isPresent() ? ordinals.at(localRank.getAsInt()) : Match.none("its launcher does not tell");
        String because = ordinals.unknown().isEmpty() ? "; " + REMEDY : "; " + ordinals.unknown();
        return match.device()
                .<DeviceResolution>map(device -> new Resolved(device, List.of()))
                .orElseGet(() -> new Refused(
                        "%s: this worker has %s%s"
                                .formatted(named(localRank), DeviceNames.listed(ordinals.devices()), because),
                        List.of()));
    }

    private static String named(OptionalInt localRank) {
        return localRank.isPresent() ? "local rank " + localRank.getAsInt() : "a rank whose local rank is not known";
    }
}
