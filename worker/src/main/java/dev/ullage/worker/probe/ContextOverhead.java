package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.MemoryBytes;
import java.util.Optional;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/**
 * What a CUDA context costs on a device before anything is allocated in it: memory that no allocator's limit covers.
 * Measured on demand by making one in this process and ending it again; it takes some hundred MiB of the device for a
 * moment.
 *
 * @param bytes the cost, when it could be measured
 * @param how one sentence: what was compared, or why nothing could be
 */
public record ContextOverhead(Optional<MemoryBytes> bytes, String how) {

    /** Blocks for as long as the driver takes. Call it from a thread kept for that. */
    public static ContextOverhead measure(GpuProbe probe, DeviceId id) {
        JCudaFacts cuda = new JCudaFacts();
        Optional<CUdevice> device = cuda.device(id);
        if (device.isEmpty()) {
            return unknown(cuda.description() + "; " + id + " is not among them");
        }
        DeviceReading before = probe.read(id);
        CUcontext context = new CUcontext();
        int result = JCudaDriver.cuCtxCreate(context, 0, device.get());
        if (result != CUresult.CUDA_SUCCESS) {
            return unknown("no context could be made: " + CUresult.stringFor(result));
        }
        try {
            return between(before, probe.read(id), ProcessHandle.current().pid());
        } finally {
            JCudaDriver.cuCtxDestroy(context);
        }
    }

    /** The use of this process if the driver tells it, else by how much the device's use rose. */
    static ContextOverhead between(DeviceReading before, DeviceReading with, long pid) {
        Optional<MemoryBytes> own = useOf(pid, with);
        if (own.isPresent()) {
            MemoryBytes already = useOf(pid, before).orElse(MemoryBytes.ZERO);
            return new ContextOverhead(
                    Optional.of(own.get().minusOrZero(already)), "use of this process with a context");
        }
        Optional<MemoryBytes> used = with.memory().map(MemoryUse::used);
        Optional<MemoryBytes> usedBefore = before.memory().map(MemoryUse::used);
        if (used.isEmpty() || usedBefore.isEmpty() || !used.get().isMoreThan(usedBefore.get())) {
            return unknown("neither the use of this process nor a rise of the device's use could be read");
        }
        return new ContextOverhead(
                Optional.of(used.get().minus(usedBefore.get())),
                "rise of the device's use, in which others may have a part");
    }

    private static Optional<MemoryBytes> useOf(long pid, DeviceReading reading) {
        return reading.processes().stream()
                .flatMap(processes -> processes.stream())
                .filter(process -> process.pid() == pid)
                .map(ProcessUse::used)
                .findFirst()
                .flatMap(used -> used);
    }

    private static ContextOverhead unknown(String why) {
        return new ContextOverhead(Optional.empty(), why);
    }
}
