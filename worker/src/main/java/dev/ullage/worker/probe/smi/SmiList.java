package dev.ullage.worker.probe.smi;

import dev.ullage.worker.probe.smi.SmiGpu.Mig;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code nvidia-smi -L}: the only output that has the UUIDs of MIG instances. Pure. */
final class SmiList {
    private static final Pattern GPU = Pattern.compile("\\s*GPU (\\d{1,6}): (.*?) *\\(UUID: ([^)]*)\\).*");
    private static final Pattern INSTANCE =
            Pattern.compile("\\s*MIG (.*?) *Device +(\\d{1,6}): *\\(UUID: ([^)]*)\\).*");

    private SmiList() {}

    static SmiReport parse(List<String> lines) {
        List<SmiGpu> gpus = new ArrayList<>();
        for (String line : lines) {
            Matcher gpu = GPU.matcher(line);
            Matcher instance = INSTANCE.matcher(line);
            if (gpu.matches()) {
                SmiGpuId id = new SmiGpuId(
                        OptionalInt.of(Integer.parseInt(gpu.group(1))),
                        SmiCsv.unlessUnknown(gpu.group(3)),
                        SmiCsv.unlessUnknown(gpu.group(2)),
                        Optional.empty());
                gpus.add(new SmiGpu(id, SmiMemory.NOT_PRINTED, Mig.NOT_PRINTED, Optional.empty(), List.of()));
            } else if (instance.matches() && !gpus.isEmpty()) {
                SmiGpu parent = gpus.remove(gpus.size() - 1);
                gpus.add(with(parent, instance));
            }
        }
        return new SmiReport(Optional.empty(), gpus, false, SmiOutput.errors(lines));
    }

    private static SmiGpu with(SmiGpu parent, Matcher instance) {
        List<SmiMigDevice> devices = new ArrayList<>(parent.mig().devices());
        devices.add(new SmiMigDevice(
                Integer.parseInt(instance.group(2)),
                Optional.empty(),
                SmiCsv.unlessUnknown(instance.group(3)),
                SmiCsv.unlessUnknown(instance.group(1)),
                SmiMemory.NOT_PRINTED));
        return new SmiGpu(
                parent.id(),
                parent.memory(),
                new Mig(Optional.of(true), devices),
                parent.processes(),
                parent.problems());
    }
}
