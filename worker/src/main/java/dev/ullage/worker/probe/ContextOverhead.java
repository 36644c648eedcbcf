package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.MemoryBytes;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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

    /** As {@link #measure}, on a thread of its own that is left behind when CUDA does not answer in time. */
    public static ContextOverhead measureWithin(GpuProbe probe, DeviceId id, Duration deadline) {
        CompletableFuture<ContextOverhead> measured = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        measured.complete(measure(probe, id));
                    } catch (RuntimeException | LinkageError e) {
                        measured.complete(unknown("CUDA cannot be asked: " + e));
                    }
                },
                "probe-context");
        thread.setDaemon(true);
        thread.start();
        try {
            return measured.get(deadline.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            return unknown("CUDA has not answered within " + deadline.toMillis() + " ms");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return unknown("interrupted while waiting for CUDA");
        }
    }

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
            ContextOverhead read =
                    between(before, probe.read(id), ProcessHandle.current().pid());
            return read.bytes().isPresent() ? read : byCuda(before, read);
        } finally {
            JCudaDriver.cuCtxDestroy(context);
        }
    }

    /** With nobody else on the device, what CUDA has not free is the context's, the current one of this thread. */
    private static ContextOverhead byCuda(DeviceReading before, ContextOverhead otherwise) {
        long[] free = new long[1];
        long[] total = new long[1];
        boolean isAlone = before.processes().filter(List::isEmpty).isPresent();
        if (!isAlone
                || JCudaDriver.cuMemGetInfo(free, total) != CUresult.CUDA_SUCCESS
                || free[0] < 0
                || free[0] >= total[0]) {
            return otherwise;
        }
        return new ContextOverhead(
                Optional.of(MemoryBytes.of(total[0] - free[0])), "what CUDA does not have free, with no other process");
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
