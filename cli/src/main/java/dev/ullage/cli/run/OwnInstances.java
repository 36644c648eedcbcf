package dev.ullage.cli.run;

import dev.ullage.cli.run.LaunchRequest.Size;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.worker.probe.VisibleDevices;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Several MIG instances under one launcher. CUDA shows a process one instance, the first of its list, so each rank
 * needs a list of its own: the client in front of it makes that of {@link #VARIABLE}, by the local rank. Pure.
 */
final class OwnInstances {
    /** Devices that the ranks of this host take in turn, each rank seeing its own only. */
    static final String VARIABLE = "ULLAGE_OWN_DEVICES";

    static final String NOTE = "each rank sees one MIG instance, its device 0: a script that takes the device of its"
            + " local rank must take that (LOCAL_RANK % torch.cuda.device_count())";

    private static final String MIG_PREFIX = "MIG-";

    private OwnInstances() {}

    /** Whether no list that all of a launcher's ranks have could show each of them its own device. */
    static boolean areNeeded(List<DeviceInfo> devices) {
        return devices.size() > 1 && devices.stream().anyMatch(device -> device.kind() == DeviceKind.MIG);
    }

    /** Why this launcher's ranks cannot have an instance each; empty when they can. */
    static Optional<String> refusal(LaunchRequest request) {
        String launcher = request.launcher().label();
        if (request.launcher() == Launcher.DEEPSPEED) {
            return Optional.of(
                    "deepspeed counts the devices that CUDA shows, which of MIG instances is one, and has each"
                            + " rank take the one of its local rank: start the ranks with torchrun or mpirun");
        }
        if (request.launcher() == Launcher.PLAIN) {
            return Optional.of(
                    "one process sees one MIG instance: ask for one, or start a rank for each with torchrun or"
                            + " mpirun");
        }
        if (request.size().isOnePerDevice()) {
            return Optional.of(
                    launcher + " counts the devices that CUDA shows, which of MIG instances is one: say how many"
                            + " ranks (--nproc-per-node N)");
        }
        return request.reasonNotToWrap()
                .filter(reason -> !reason.equals(LaunchRequest.NO_WRAP) && !request.isWrapped())
                .map(reason -> "the client in front of a rank gives it its own MIG instance, and cannot be put there ("
                        + reason + "): put \"python3 -m ullage exec --\" there, and say --no-wrap");
    }

    /**
     * The caller's list, as the ranks of one launcher are to share it out: CUDA would stop at the first instance.
     *
     * @param devices of this host
     */
    static VisibleDevices visible(String list, Size size, List<DeviceInfo> devices) {
        VisibleDevices asCuda = VisibleDevices.parse(list, devices);
        boolean isShared = list.strip().startsWith(MIG_PREFIX) && size.perHost().orElse(1) > 1;
        if (!isShared) {
            return asCuda;
        }
        Set<DeviceInfo> found = new LinkedHashSet<>();
        List<String> warnings = new ArrayList<>();
        String[] tokens = list.split(",", -1);
        for (String token : tokens) {
            VisibleDevices one = VisibleDevices.parse(token, devices);
            if (one.devices().isEmpty() || !found.addAll(one.devices())) {
                warnings.add("CUDA_VISIBLE_DEVICES: '%s' %s"
                        .formatted(
                                token.strip(),
                                one.devices().isEmpty()
                                        ? "names no device of this host"
                                        : "names a device a second time"));
            }
        }
        return new VisibleDevices(List.copyOf(found), tokens.length, warnings);
    }
}
