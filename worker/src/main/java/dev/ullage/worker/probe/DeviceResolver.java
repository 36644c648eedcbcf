package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceInfo;
import dev.ullage.worker.probe.DeviceNames.Match;
import dev.ullage.worker.probe.DeviceResolution.Refused;
import dev.ullage.worker.probe.DeviceResolution.Resolved;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/**
 * Finds the one device a rank will use. Pure. In this order:
 *
 * <ol>
 *   <li>the device the rank asks for by name;
 *   <li>the only device of a visible list of one, whatever the local rank: Slurm gives each task such a list;
 *   <li>the local rank's place in the visible list;
 *   <li>without a list, the device whose index is the local rank.
 * </ol>
 *
 * A rank is never given some device because the right one cannot be told: it is refused, with what it asked for, what
 * there is, and what to set.
 */
public final class DeviceResolver {
    private static final Pattern INDEX = Pattern.compile("\\d{1,9}");
    private static final String REMEDY = "set CUDA_VISIBLE_DEVICES or ULLAGE_DEVICE";

    private DeviceResolver() {}

    public static DeviceResolution resolve(DeviceRequest request, List<DeviceInfo> devices) {
        Optional<VisibleDevices> visible = request.visibleDevices().map(list -> VisibleDevices.parse(list, devices));
        if (request.device().isPresent()) {
            return byName(request.device().get().strip(), visible, devices);
        }
        return visible.map(list -> byList(request, list, devices))
                .orElseGet(() -> byLocalRank(request.localRank(), devices));
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

    private static DeviceResolution byLocalRank(OptionalInt localRank, List<DeviceInfo> devices) {
        Match match = localRank.isPresent()
                ? DeviceNames.byIndex(localRank.getAsInt(), devices)
                : Match.none("its launcher does not tell");
        return match.device()
                .<DeviceResolution>map(device -> new Resolved(device, List.of()))
                .orElseGet(() -> new Refused(
                        "%s: this worker has %s; %s".formatted(named(localRank), DeviceNames.listed(devices), REMEDY),
                        List.of()));
    }

    private static String named(OptionalInt localRank) {
        return localRank.isPresent() ? "local rank " + localRank.getAsInt() : "a rank whose local rank is not known";
    }
}
