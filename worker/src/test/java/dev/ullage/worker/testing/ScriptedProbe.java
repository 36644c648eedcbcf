package dev.ullage.worker.testing;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.worker.probe.DeviceProblem;
import dev.ullage.worker.probe.GpuProbe;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** Devices of 100 GiB whose reads hang, fail or answer as a test says. */
public final class ScriptedProbe implements GpuProbe {
    /** No process has this number: it is more than a kernel gives. */
    private static final long STRANGER = 4_194_305;

    private final Map<DeviceId, CountDownLatch> hanging = new ConcurrentHashMap<>();
    private final Map<DeviceId, String> failing = new ConcurrentHashMap<>();
    private final Map<DeviceId, AtomicInteger> inside = new ConcurrentHashMap<>();
    private final Map<DeviceId, AtomicInteger> calls = new ConcurrentHashMap<>();
    private final Map<DeviceId, MemoryBytes> used = new ConcurrentHashMap<>();
    private volatile List<DeviceInfo> devices;

    public ScriptedProbe(String... ids) {
        devices = list(ids);
    }

    private static List<DeviceInfo> list(String... ids) {
        List<DeviceInfo> infos = new ArrayList<>();
        for (String id : ids) {
            infos.add(
                    new DeviceInfo(new DeviceId(id), infos.size(), "SIM-100G", DeviceKind.SIMULATED, Optional.empty()));
        }
        return List.copyOf(infos);
    }

    /** From now on these are the devices there are. */
    public void becomes(String... ids) {
        devices = list(ids);
    }

    /** From now on a read of the device does not come back. */
    public void hang(String id) {
        hanging.put(new DeviceId(id), new CountDownLatch(1));
    }

    /** All that hang come back, and later reads do. */
    public void release(String id) {
        CountDownLatch latch = hanging.remove(new DeviceId(id));
        if (latch != null) {
            latch.countDown();
        }
    }

    /** From now on a read of the device knows nothing, for this reason; an empty one ends that. */
    public void fail(String id, String reason) {
        failing.put(new DeviceId(id), reason);
        if (reason.isEmpty()) {
            failing.remove(new DeviceId(id));
        }
    }

    /** From now on a process that is no rank's has so much of the device. */
    public void uses(String id, MemoryBytes bytes) {
        used.put(new DeviceId(id), bytes);
    }

    /** How many reads of the device have not come back. */
    public int outstanding(String id) {
        return count(inside, new DeviceId(id)).get();
    }

    public int calls(String id) {
        return count(calls, new DeviceId(id)).get();
    }

    private static AtomicInteger count(Map<DeviceId, AtomicInteger> counters, DeviceId id) {
        return counters.computeIfAbsent(id, key -> new AtomicInteger());
    }

    @Override
    public String description() {
        return "scripted";
    }

    @Override
    public List<DeviceInfo> devices() {
        return devices;
    }

    @Override
    public List<DeviceProblem> problems() {
        return List.of();
    }

    @Override
    public DeviceReading read(DeviceId id) {
        count(calls, id).incrementAndGet();
        count(inside, id).incrementAndGet();
        try {
            CountDownLatch latch = hanging.get(id);
            if (latch != null) {
                latch.await();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            count(inside, id).decrementAndGet();
        }
        return answer(id);
    }

    private DeviceReading answer(DeviceId id) {
        String reason = failing.get(id);
        boolean isListed = devices.stream().anyMatch(device -> device.id().equals(id));
        if (reason != null || !isListed) {
            return new DeviceReading(
                    Optional.empty(), Optional.empty(), List.of(reason == null ? "not listed" : reason));
        }
        MemoryBytes total = MemoryBytes.ofGibibytes(100);
        Optional<MemoryBytes> stranger = Optional.ofNullable(used.get(id));
        MemoryBytes inUse = stranger.orElse(MemoryBytes.ZERO);
        MemoryUse memory = new MemoryUse(total, Optional.of(MemoryBytes.ZERO), inUse, total.minus(inUse));
        List<ProcessUse> processes = stranger.map(bytes -> new ProcessUse(STRANGER, Optional.of(bytes))).stream()
                .toList();
        return new DeviceReading(Optional.of(memory), Optional.of(processes), List.of());
    }

    @Override
    public void close() {
        // Nothing to let go of.
    }
}
