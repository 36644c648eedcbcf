package dev.ullage.cli.devices;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.worker.probe.GpuProbe;
import dev.ullage.worker.probe.HostMemory;
import dev.ullage.worker.probe.NvmlProbe;
import dev.ullage.worker.probe.NvmlRecording;
import dev.ullage.worker.probe.ProbeUnavailableException;
import dev.ullage.worker.probe.smi.SmiDevices;
import dev.ullage.worker.probe.smi.SmiReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

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

    /** @param read how a device is read; not by the probe itself where a driver may hang */
    static ShownSource of(GpuProbe probe, Function<DeviceId, DeviceReading> read) {
        return new ShownSource(probe.description(), Optional.empty(), devices(probe, read), problems(probe), true);
    }

    ShownSource with(List<ShownDevice> changed) {
        return new ShownSource(name, driver, changed, problems, isReadable);
    }

    private static List<ShownDevice> devices(GpuProbe probe, Function<DeviceId, DeviceReading> read) {
        return probe.devices().stream()
                .map((DeviceInfo info) -> ShownDevice.of(info, read.apply(info.id())))
                .toList();
    }

    private static List<String> problems(GpuProbe probe) {
        return probe.problems().stream().map(problem -> problem.toString()).toList();
    }

    /** @param host the memory of the host it was made on, where it does not say itself */
    static ShownSource of(String name, NvmlRecording recording, Optional<HostMemory> host) {
        try (GpuProbe probe = NvmlProbe.replayed(recording, host)) {
            List<String> problems = new ArrayList<>(recording.madeUp());
            problems.addAll(problems(probe));
            return new ShownSource(name, recording.driver(), devices(probe, probe::read), problems, true);
        } catch (ProbeUnavailableException e) {
            // What it answered when it was recorded is what there is to see.
            return new ShownSource(name, recording.driver(), List.of(), List.of(String.valueOf(e.getMessage())), true);
        }
    }

    /** One that says nothing. */
    static ShownSource unreadable(String name, List<String> problems) {
        return new ShownSource(name, Optional.empty(), List.of(), problems, false);
    }

    static ShownSource of(String name, SmiReport report, SmiDevices seen) {
        boolean saysThereAreNone = report.problems().stream()
                .anyMatch(problem -> problem.toLowerCase(Locale.ROOT).startsWith("no devices were found"));
        List<String> problems = new ArrayList<>(seen.problems());
        if (report.gpus().isEmpty() && problems.isEmpty()) {
            problems.add("it names no GPU: it ends behind its header line");
        }
        return new ShownSource(
                name,
                report.driver(),
                seen.devices().stream().map(ShownDevice::of).toList(),
                problems,
                !report.gpus().isEmpty() || saysThereAreNone);
    }
}
