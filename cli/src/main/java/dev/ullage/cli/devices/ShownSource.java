package dev.ullage.cli.devices;

import dev.ullage.common.model.DeviceInfo;
import dev.ullage.worker.probe.GpuProbe;
import dev.ullage.worker.probe.smi.SmiDevices;
import dev.ullage.worker.probe.smi.SmiReport;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * One machine: a probe, or recordings of one.
 *
 * @param name what it was read from
 * @param driver the driver's version
 * @param isReadable whether it says anything about devices, be it that there are none
 */
record ShownSource(
        String name, Optional<String> driver, List<ShownDevice> devices, List<String> problems, boolean isReadable) {

    ShownSource {
        devices = List.copyOf(devices);
        problems = List.copyOf(problems);
    }

    static ShownSource of(GpuProbe probe) {
        List<ShownDevice> devices = probe.devices().stream()
                .map((DeviceInfo info) -> ShownDevice.of(info, probe.read(info.id())))
                .toList();
        List<String> problems =
                probe.problems().stream().map(problem -> problem.toString()).toList();
        return new ShownSource(probe.description(), Optional.empty(), devices, problems, true);
    }

    static ShownSource of(String name, SmiReport report, SmiDevices seen) {
        boolean saysThereAreNone = report.problems().stream()
                .anyMatch(problem -> problem.toLowerCase(Locale.ROOT).startsWith("no devices were found"));
        return new ShownSource(
                name,
                report.driver(),
                seen.devices().stream().map(ShownDevice::of).toList(),
                seen.problems(),
                !report.gpus().isEmpty() || saysThereAreNone);
    }
}
