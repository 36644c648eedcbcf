package dev.ullage.worker.probe;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdevice_attribute;
import jcuda.driver.CUresult;
import jcuda.driver.CUuuid;
import jcuda.driver.JCudaDriver;

/**
 * CUDA's driver, through JCuda. Loaded at the first question and never before, so not at all on a machine where NVML
 * can say everything. Asks without making a context, which would cost device memory. That it is missing is a fact like
 * any other. Threads: any.
 */
final class JCudaFacts implements CudaFacts {
    private static final int UUID_BYTES = 16;

    private volatile Optional<Loaded> loaded = Optional.empty();

    /**
     * CUDA's devices by UUID, in its order; none when it could not be loaded, and then {@code description} says why.
     * Complete is a list in which each of CUDA's devices has its place; in another one places are not numbers.
     */
    private record Loaded(Map<DeviceId, CUdevice> devices, boolean isComplete, String description) {
        static Loaded nothing(String why) {
            return new Loaded(Map.of(), false, why);
        }
    }

    @Override
    public Optional<Boolean> isIntegrated(DeviceId device) {
        return device(device).flatMap(found -> {
            int[] value = new int[1];
            int result =
                    JCudaDriver.cuDeviceGetAttribute(value, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_INTEGRATED, found);
            return result == CUresult.CUDA_SUCCESS ? Optional.of(value[0] != 0) : Optional.empty();
        });
    }

    @Override
    public Optional<MemoryBytes> total(DeviceId device) {
        return device(device).flatMap(found -> {
            long[] bytes = new long[1];
            int result = JCudaDriver.cuDeviceTotalMem(bytes, found);
            return result == CUresult.CUDA_SUCCESS && bytes[0] > 0
                    ? Optional.of(MemoryBytes.of(bytes[0]))
                    : Optional.empty();
        });
    }

    Optional<CUdevice> device(DeviceId device) {
        return Optional.ofNullable(loadedNow().devices().get(device));
    }

    @Override
    public List<DeviceId> numbered() {
        Loaded now = loadedNow();
        return now.isComplete() ? List.copyOf(now.devices().keySet()) : List.of();
    }

    @Override
    public String description() {
        return loadedNow().description();
    }

    boolean isLoaded() {
        return loaded.isPresent();
    }

    private synchronized Loaded loadedNow() {
        Loaded now = loaded.orElseGet(JCudaFacts::load);
        loaded = Optional.of(now);
        return now;
    }

    private static Loaded load() {
        try {
            JCudaDriver.setExceptionsEnabled(false);
            int result = JCudaDriver.cuInit(0);
            return result == CUresult.CUDA_SUCCESS
                    ? list()
                    : Loaded.nothing("CUDA does not start: " + CUresult.stringFor(result));
        } catch (LinkageError e) {
            // JCuda's own message is a page long and about JCuda; the usual reason is that there is no libcuda.so.1.
            return Loaded.nothing("CUDA cannot be asked: libcuda.so.1 or JCuda's library for it cannot be loaded here");
        }
    }

    private static Loaded list() {
        int[] count = new int[1];
        int result = JCudaDriver.cuDeviceGetCount(count);
        Map<DeviceId, CUdevice> devices = new LinkedHashMap<>();
        for (int ordinal = 0; result == CUresult.CUDA_SUCCESS && ordinal < count[0]; ordinal++) {
            CUdevice device = new CUdevice();
            CUuuid uuid = new CUuuid();
            if (JCudaDriver.cuDeviceGet(device, ordinal) == CUresult.CUDA_SUCCESS
                    && JCudaDriver.cuDeviceGetUuid(uuid, device) == CUresult.CUDA_SUCCESS) {
                idOf(uuid).ifPresent(id -> devices.put(id, device));
            }
        }
        return new Loaded(devices, devices.size() == count[0], "CUDA lists " + Counts.of(devices.size(), "device"));
    }

    /** As NVML writes it. A MIG device has another prefix; nobody asks for one here. */
    private static Optional<DeviceId> idOf(CUuuid uuid) {
        if (uuid.bytes == null || uuid.bytes.length < UUID_BYTES) {
            return Optional.empty();
        }
        String hex = HexFormat.of().formatHex(uuid.bytes, 0, UUID_BYTES);
        return Optional.of(
                new DeviceId("GPU-" + hex.replaceFirst("(.{8})(.{4})(.{4})(.{4})(.{12})", "$1-$2-$3-$4-$5")));
    }
}
