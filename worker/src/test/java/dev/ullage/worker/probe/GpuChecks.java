package dev.ullage.worker.probe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.MemoryBytes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/**
 * What must hold for real devices: {@link NvmlProbeGpuTest} asks it of the machine's own, and {@link GpuChecksTest} of
 * stand-ins for NVML, CUDA and {@code nvidia-smi}, so that these checks have run, and failed, before there is a GPU.
 */
final class GpuChecks {
    private static final MemoryBytes KNOWN = MemoryBytes.ofGibibytes(1);
    /** Of an amount that was allocated, what a reading of it may be off by. */
    private static final long TOLERANCE_PERCENT = 2;

    private static final MemoryBytes LEAST_CONTEXT = MemoryBytes.ofMebibytes(16);
    private static final MemoryBytes MOST_CONTEXT = MemoryBytes.ofGibibytes(4);

    /** Of NVML's total what CUDA's is at least. */
    private static final int LEAST_PERCENT = 90;

    private static final int ROUNDS = 51;

    /** @param check says what it found, or fails */
    record Named(String name, Check check) {}

    interface Check {
        String find() throws IOException;
    }

    private final GpuProbe probe;
    private final String smi;

    /** @param smi {@code nvidia-smi}, a name on the PATH or a path */
    GpuChecks(GpuProbe probe, String smi) {
        this.probe = probe;
        this.smi = smi;
    }

    /**
     * Every card that the tool lists is a device here, or the card of slices, or a problem that names it; no others.
     */
    void countIsThatOfTheTool() throws IOException {
        TreeSet<Integer> seen = new TreeSet<>();
        probe.devices().forEach(device -> seen.add(device.index()));
        probe.problems().forEach(problem -> seen.add(problem.index()));
        assertThat(seen).as("indices").hasSameSizeAs(totals().keySet());
    }

    /** As the tool prints them, in whole MiB; cards in MIG mode and those with the host's memory have no such total. */
    int totalsAreThoseOfTheTool() throws IOException {
        Map<String, Long> printed = totals();
        int compared = 0;
        for (DeviceInfo device : probe.devices()) {
            Optional<MemoryUse> memory = probe.read(device.id()).memory();
            if (device.kind() == DeviceKind.DISCRETE && memory.isPresent()) {
                assertThat(memory.get().total().value() / MemoryBytes.MEBIBYTE)
                        .as("total of %s in MiB", device.id())
                        .isCloseTo(printed.get(device.id().value()), org.assertj.core.data.Offset.offset(1L));
                compared++;
            }
        }
        return compared;
    }

    /** The tool's totals in MiB, by UUID. */
    private Map<String, Long> totals() throws IOException {
        Process tool = new ProcessBuilder(smi, "--query-gpu=uuid,memory.total", "--format=csv,noheader,nounits")
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        Map<String, Long> totals = new TreeMap<>();
        String output = new String(tool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        for (String line : output.lines().toList()) {
            List<String> fields =
                    Stream.of(line.split(",", -1)).map(String::strip).toList();
            if (fields.get(0).startsWith("GPU-")) {
                totals.put(fields.get(0), fields.get(1).matches("\\d+") ? Long.parseLong(fields.get(1)) : 0L);
            }
        }
        assertThat(totals).as("what " + smi + " printed: " + output).isNotEmpty();
        return totals;
    }

    /** Used, free and reserved are the total, to the byte; or there is no memory and a reason. */
    void everyReadingAddsUp() {
        for (DeviceInfo device : probe.devices()) {
            DeviceReading reading = probe.read(device.id());
            assertThat(reading.memory().isPresent() || !reading.problems().isEmpty())
                    .as(device.id().value())
                    .isTrue();
            reading.memory().ifPresent(memory -> assertThat(memory.used()
                            .plus(memory.free())
                            .plus(memory.reserved().orElse(MemoryBytes.ZERO)))
                    .as(device.id().value())
                    .isEqualTo(memory.total()));
        }
    }

    /** A context costs something, and not absurdly much. */
    MemoryBytes contextCostsSomething(DeviceId device) {
        ContextOverhead overhead = ContextOverhead.measure(probe, device);
        assertThat(overhead.bytes()).as(overhead.how()).isPresent();
        MemoryBytes cost = overhead.bytes().orElseThrow();
        assertThat(cost).as("context: " + overhead.how()).isBetween(LEAST_CONTEXT, MOST_CONTEXT);
        return cost;
    }

    /**
     * This process, with a context and 1 GiB allocated in it, uses the context and 1 GiB, within 2 %.
     *
     * @return what the 1 GiB was read as
     */
    MemoryBytes aKnownAmountIsReadWithinTwoPercent(DeviceId id) {
        CUdevice device = new JCudaFacts().device(id).orElseThrow();
        CUcontext context = new CUcontext();
        succeeds(JCudaDriver.cuCtxCreate(context, 0, device));
        try {
            DeviceReading empty = probe.read(id);
            CUdeviceptr pointer = new CUdeviceptr();
            succeeds(JCudaDriver.cuMemAlloc(pointer, KNOWN.value()));
            DeviceReading full = probe.read(id);
            succeeds(JCudaDriver.cuMemFree(pointer));
            ContextOverhead rise =
                    ContextOverhead.between(empty, full, ProcessHandle.current().pid());
            assertThat(rise.bytes()).as(rise.how()).isPresent();
            MemoryBytes read = rise.bytes().orElseThrow();
            assertThat(Math.abs(read.value() - KNOWN.value()))
                    .as("%s read as %s, by the %s", KNOWN, read, rise.how())
                    .isLessThanOrEqualTo(KNOWN.value() * TOLERANCE_PERCENT / 100);
            return read;
        } finally {
            JCudaDriver.cuCtxDestroy(context);
        }
    }

    private static void succeeds(int result) {
        assertThat(CUresult.stringFor(result)).isEqualTo("CUDA_SUCCESS");
    }

    /** What CUDA says the device has, which is no more than NVML says and not much less: the driver keeps a part. */
    MemoryBytes cudaHasNoMoreThanNvml(DeviceId id) {
        MemoryBytes cuda = new JCudaFacts().total(id).orElseThrow(() -> new AssertionError("CUDA does not know " + id));
        MemoryBytes total = probe.read(id)
                .memory()
                .map(MemoryUse::total)
                .orElseThrow(() -> new AssertionError("no total of " + id));
        assertThat(cuda).as("CUDA's total").isBetween(MemoryBytes.of(total.value() / 100 * LEAST_PERCENT), total);
        return cuda;
    }

    /** As a worker reads them: each device once; the middle one of so many rounds. */
    Duration aRoundTakes() {
        long[] nanos = new long[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            long start = System.nanoTime();
            probe.devices().forEach(device -> probe.read(device.id()));
            nanos[round] = System.nanoTime() - start;
        }
        Arrays.sort(nanos);
        return Duration.ofNanos(nanos[ROUNDS / 2]);
    }

    private List<DeviceId> whole() {
        return probe.devices().stream()
                .filter(device -> device.kind() != DeviceKind.MIG)
                .map(DeviceInfo::id)
                .toList();
    }

    /** All of it, each with what it finds, for people. */
    List<Named> named() {
        List<Named> checks = new ArrayList<>(List.of(
                new Named("cards, as nvidia-smi lists them", () -> {
                    countIsThatOfTheTool();
                    return totals().size() + " cards";
                }),
                new Named("totals, as nvidia-smi prints them", () -> totalsAreThoseOfTheTool() + " compared"),
                new Named("used + free + reserved = total", () -> {
                    everyReadingAddsUp();
                    return probe.devices().size() + " readings, to the byte";
                }),
                new Named("one round of readings", () -> aRoundTakes().toNanos() / 1_000 + " us")));
        for (DeviceId id : whole()) {
            checks.add(new Named(
                    "CUDA's total of " + id, () -> cudaHasNoMoreThanNvml(id).toString()));
            checks.add(new Named(
                    "a context on " + id, () -> contextCostsSomething(id).toString()));
            checks.add(new Named(
                    "1 GiB on " + id,
                    () -> aKnownAmountIsReadWithinTwoPercent(id).value() + " bytes read of " + KNOWN.value()));
        }
        return checks;
    }
}
