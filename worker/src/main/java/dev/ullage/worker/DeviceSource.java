package dev.ullage.worker;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.SimulatedSpec;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.config.WorkerSettings;
import dev.ullage.worker.WorkerRuntime.Devices;
import dev.ullage.worker.WorkerStartException.Kind;
import dev.ullage.worker.probe.DeviceProblem;
import dev.ullage.worker.probe.GpuProbe;
import dev.ullage.worker.probe.NvmlProbe;
import dev.ullage.worker.probe.NvmlRecorder;
import dev.ullage.worker.probe.ProbeUnavailableException;
import dev.ullage.worker.probe.ProbeUnavailableException.Reason;
import dev.ullage.worker.probe.SimulatedProbe;
import dev.ullage.worker.probe.smi.SmiProbe;
import dev.ullage.worker.ranks.RankSessions.UseListener;
import dev.ullage.worker.sampling.DeviceReaders;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where a worker's devices come from: the driver, or a simulation that was asked for by name. */
public final class DeviceSource {
    private static final Logger LOG = LoggerFactory.getLogger(DeviceSource.class);
    private static final Duration OPEN_WITHIN = Duration.ofSeconds(60);
    private static final String WAYS_OUT = "Either run on a host with an NVIDIA driver (and, in a container, with its"
            + " libraries mounted), or ask for simulated devices, for example --simulate 4xH100-80G";

    private DeviceSource() {}

    /**
     * Opens the devices the settings name.
     *
     * @throws WorkerStartException with {@link Kind#NO_DEVICES} and both ways out when there are none
     */
    public static Devices open(WorkerSettings.Devices settings, NodeId node) throws WorkerStartException {
        return settings.simulate().isPresent() ? simulated(settings.simulate().get(), node) : real(settings);
    }

    private static Devices real(WorkerSettings.Devices settings) throws WorkerStartException {
        GpuProbe probe;
        try {
            probe = probe(settings);
        } catch (ProbeUnavailableException e) {
            throw new WorkerStartException(
                    Kind.NO_DEVICES, "no GPU can be used: " + withWaysOut(String.valueOf(e.getMessage())), e);
        }
        for (DeviceProblem problem : probe.problems()) {
            LOG.warn("reason=\"{}\"", problem);
        }
        if (probe.devices().isEmpty()) {
            String problems = probe.problems().isEmpty()
                    ? "the driver reports no GPU"
                    : probe.problems().toString();
            DeviceReaders.letGo(probe);
            throw new WorkerStartException(Kind.NO_DEVICES, "no GPU can be used: " + withWaysOut(problems));
        }
        return new Devices(probe, MeasuresItself.INSTANCE);
    }

    /**
     * What can look at the real devices of this host, whether or not there are any: NVML, and {@code nvidia-smi} only
     * where NVML cannot be opened. Not where the driver hangs: it would hang the same driver.
     *
     * @throws ProbeUnavailableException with what stood in the way of each
     */
    public static GpuProbe probe(WorkerSettings.Devices settings) throws ProbeUnavailableException {
        try {
            return openWithin(OPEN_WITHIN, library(settings));
        } catch (ProbeUnavailableException nvml) {
            if (nvml.reason() == Reason.DRIVER_HANGS) {
                throw nvml;
            }
            GpuProbe probe = lastResort(nvml);
            LOG.warn(
                    "reason=\"{}\"; devices are read through {} instead, in whole MiB",
                    nvml.getMessage(),
                    probe.description());
            return probe;
        }
    }

    private static GpuProbe lastResort(ProbeUnavailableException nvml) throws ProbeUnavailableException {
        try {
            return SmiProbe.open(SmiProbe.DEFAULT_PROGRAM, Clock.systemUTC());
        } catch (ProbeUnavailableException smi) {
            nvml.addSuppressed(smi);
            throw new ProbeUnavailableException(nvml.reason(), nvml.getMessage() + "; and " + smi.getMessage(), nvml);
        }
    }

    /** A sentence that says why there are no devices, and what can be done about it. */
    public static String withWaysOut(String why) {
        return why + ". " + WAYS_OUT;
    }

    /** A driver may hang from the first call on; the worker then says so instead of hanging too. */
    static GpuProbe openWithin(Duration deadline, String library) throws ProbeUnavailableException {
        return openWithin(deadline, () -> NvmlProbe.open(library));
    }

    /**
     * The real devices through NVML alone. Let go of it with {@link DeviceReaders#letGo}, for its close may hang as
     * well.
     */
    public static GpuProbe nvml(WorkerSettings.Devices settings) throws ProbeUnavailableException {
        return openWithin(OPEN_WITHIN, library(settings));
    }

    /**
     * The real devices through NVML alone, with every call written down.
     *
     * @param recorder has what was called so far also when this fails
     */
    public static GpuProbe recorded(WorkerSettings.Devices settings, NvmlRecorder recorder)
            throws ProbeUnavailableException {
        return openWithin(OPEN_WITHIN, () -> NvmlProbe.recorded(library(settings), recorder));
    }

    private static String library(WorkerSettings.Devices settings) {
        return settings.nvmlLibrary().map(Path::toString).orElse(NvmlProbe.DEFAULT_LIBRARY);
    }

    private static GpuProbe openWithin(Duration deadline, Callable<GpuProbe> open) throws ProbeUnavailableException {
        FutureTask<GpuProbe> opening = new FutureTask<>(open);
        Thread thread = new Thread(opening, "probe-open");
        thread.setDaemon(true);
        thread.start();
        try {
            return opening.get(deadline.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof ProbeUnavailableException unavailable) {
                throw unavailable;
            }
            throw new ProbeUnavailableException(Reason.NVML_FAILED, "looking for GPUs failed: " + e.getCause(), e);
        } catch (TimeoutException e) {
            throw new ProbeUnavailableException(
                    Reason.DRIVER_HANGS,
                    "the driver has not answered for %d ms (a lost GPU, or one that needs a reset; see dmesg)"
                            .formatted(deadline.toMillis()),
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ProbeUnavailableException(Reason.NVML_FAILED, "interrupted while looking for GPUs", e);
        }
    }

    private static Devices simulated(SimulatedSpec spec, NodeId node) {
        SimulatedProbe probe = SimulatedProbe.create(node, spec);
        return new Devices(probe, new Charging(probe));
    }

    /**
     * Where the workers of this host exclude each other: the setting, else the system's lock folder, else the temporary
     * one.
     */
    public static Path lockDir(WorkerSettings.Devices settings) {
        Path system = Path.of("/run/lock");
        return settings.lockDir()
                .orElseGet(() -> Files.isWritable(system)
                        ? system.resolve("ullage")
                        : Path.of(System.getProperty("java.io.tmpdir"), "ullage-locks"));
    }

    /** A real device measures what is used; nobody needs to tell it. */
    private enum MeasuresItself implements UseListener {
        INSTANCE;

        @Override
        public void used(DeviceId device, RankSample sample) {
            // The driver's own numbers are the truth.
        }

        @Override
        public void gone(long pid) {
            // The driver frees what a dead process held.
        }
    }

    /** On a simulated device ranks use what they say they use. */
    private record Charging(SimulatedProbe probe) implements UseListener {

        @Override
        public void used(DeviceId device, RankSample sample) {
            MemoryBytes held = sample.use().held().orElse(MemoryBytes.ZERO);
            probe.charge(device, sample.instance().pid(), held);
        }

        @Override
        public void gone(long pid) {
            probe.discharge(pid);
        }
    }
}
