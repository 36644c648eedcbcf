package dev.ullage.worker.probe;

import com.sun.jna.Library;
import com.sun.jna.Pointer;
import com.sun.jna.Structure;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import org.jspecify.annotations.Nullable;

/**
 * The part of NVML's C interface that Ullage calls, name for name and field for field as in {@code nvml.h} 12.x. A call
 * that the loaded library does not have throws {@link UnsatisfiedLinkError} when it is made, not before. Those that are
 * made for each device at each reading are {@link DirectFunction}s.
 */
@SuppressWarnings("MemberName") // the names are NVML's
interface NvmlLibrary extends Library {
    /** {@code NVML_DEVICE_NAME_V2_BUFFER_SIZE} and {@code NVML_DEVICE_UUID_V2_BUFFER_SIZE}. */
    int TEXT_BUFFER_BYTES = 96;

    /** {@code NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE}. */
    int VERSION_BUFFER_BYTES = 80;

    int nvmlInit_v2();

    int nvmlShutdown();

    @Nullable
    String nvmlErrorString(int code);

    int nvmlSystemGetDriverVersion(byte[] version, int length);

    int nvmlDeviceGetCount_v2(IntByReference count);

    int nvmlDeviceGetHandleByIndex_v2(int index, PointerByReference device);

    int nvmlDeviceGetName(Pointer device, byte[] name, int length);

    int nvmlDeviceGetUUID(Pointer device, byte[] uuid, int length);

    int nvmlDeviceGetPciInfo_v3(Pointer device, PciInfo pci);

    int nvmlDeviceGetMemoryInfo(Pointer device, MemoryV1 memory);

    int nvmlDeviceGetMaxMigDeviceCount(Pointer device, IntByReference count);

    int nvmlDeviceGetMigDeviceHandleByIndex(Pointer device, int index, PointerByReference migDevice);

    int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(Pointer migDevice, PointerByReference device);

    int nvmlDeviceGetGpuInstanceId(Pointer device, IntByReference id);

    int nvmlDeviceGetComputeInstanceId(Pointer device, IntByReference id);

    int nvmlDeviceGetAttributes_v2(Pointer device, Attributes attributes);

    int nvmlEventSetCreate(PointerByReference set);

    int nvmlEventSetFree(Pointer set);

    int nvmlDeviceRegisterEvents(Pointer device, long eventTypes, Pointer set);

    int nvmlEventSetWait_v2(Pointer set, EventData data, int timeoutMillis);

    /** Of R615 and newer. */
    int nvmlDeviceSetMemoryLimits_v1(Pointer device, SetMemoryLimits limits);

    /** Of R615 and newer. */
    int nvmlDeviceGetMemoryLimits_v1(Pointer device, GetMemoryLimits limits);

    /** As a hard limit: none. */
    long NO_MEMORY_LIMIT = -1;

    /** {@code nvmlSetMemoryLimits_v1_t}; the name space is the full path of a cgroup's folder. */
    @Structure.FieldOrder({"nameSpace", "softLimit", "hardLimit"})
    final class SetMemoryLimits extends Structure {
        public @Nullable String nameSpace;
        public long softLimit;
        public long hardLimit;
    }

    /** {@code nvmlGetMemoryLimits_v1_t}. */
    @Structure.FieldOrder({"nameSpace", "softLimit", "hardLimit", "currentUsed"})
    final class GetMemoryLimits extends Structure {
        public @Nullable String nameSpace;
        public long softLimit;
        public long hardLimit;
        public long currentUsed;
    }

    /** {@code nvmlMemory_t}: {@code used} includes what the driver keeps for itself. */
    @Structure.FieldOrder({"total", "free", "used"})
    final class MemoryV1 extends Structure {
        public long total;
        public long free;
        public long used;
    }

    /**
     * {@code nvmlMemory_v2_t}: version, 4 bytes of nothing, bytes in all, reserved, free, used. Read field by field,
     * like the processes, for it is asked at every reading.
     */
    int MEMORY_V2_BYTES = 40;

    int MEMORY_V2_TOTAL_OFFSET = 8;
    int MEMORY_V2_RESERVED_OFFSET = 16;
    int MEMORY_V2_FREE_OFFSET = 24;
    int MEMORY_V2_USED_OFFSET = 32;

    /**
     * {@code NVML_STRUCT_VERSION(Memory, 2)}: the size of the structure and the version in the top byte; the caller
     * writes it, or the call is refused.
     */
    int MEMORY_V2_VERSION = MEMORY_V2_BYTES | (2 << 24);

    /** {@code nvmlPciInfo_t} of {@code nvmlDeviceGetPciInfo_v3}. */
    @Structure.FieldOrder({"busIdLegacy", "domain", "bus", "device", "pciDeviceId", "pciSubSystemId", "busId"})
    final class PciInfo extends Structure {
        public byte[] busIdLegacy = new byte[16];
        public int domain;
        public int bus;
        public int device;
        public int pciDeviceId;
        public int pciSubSystemId;
        public byte[] busId = new byte[32];
    }

    /**
     * {@code nvmlProcessInfo_v2_t}, which the calls {@code _v2} and {@code _v3} both fill: pid, 4 bytes of nothing,
     * bytes used, GPU instance, compute instance. Read field by field, for there may be hundreds every second.
     */
    int PROCESS_BYTES = 24;

    /** {@code nvmlProcessInfo_v1_t} of the calls without a version: the first two fields. */
    int PROCESS_V1_BYTES = 16;

    int PROCESS_USED_OFFSET = 8;
    int PROCESS_GPU_INSTANCE_OFFSET = 16;

    /** Where an instance id would be: the process is in none. */
    int NO_INSTANCE = -1;

    /** {@code nvmlEventTypeXidCriticalError}. */
    long EVENT_XID = 8;

    /** {@code nvmlDeviceAttributes_t}. */
    @Structure.FieldOrder({
        "multiprocessorCount",
        "sharedCopyEngineCount",
        "sharedDecoderCount",
        "sharedEncoderCount",
        "sharedJpegCount",
        "sharedOfaCount",
        "gpuInstanceSliceCount",
        "computeInstanceSliceCount",
        "memorySizeMB"
    })
    final class Attributes extends Structure {
        public int multiprocessorCount;
        public int sharedCopyEngineCount;
        public int sharedDecoderCount;
        public int sharedEncoderCount;
        public int sharedJpegCount;
        public int sharedOfaCount;
        public int gpuInstanceSliceCount;
        public int computeInstanceSliceCount;
        public long memorySizeMB;
    }

    /** {@code nvmlEventData_t}. */
    @Structure.FieldOrder({"device", "eventType", "eventData", "gpuInstanceId", "computeInstanceId"})
    final class EventData extends Structure {
        public @Nullable Pointer device;
        public long eventType;
        public long eventData;
        public int gpuInstanceId;
        public int computeInstanceId;
    }
}
