package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import java.util.OptionalInt;

/**
 * A device with what is needed to read it.
 *
 * @param handle NVML's, of the MIG device where it is one
 * @param card NVML's handle of the whole GPU, the same for a device that is no slice
 * @param sharedWith how many compute instances of one GPU instance, and so of one memory, this is one of; 1 otherwise
 */
record NvmlDevice(DeviceInfo info, NvmlHandle handle, NvmlHandle card, int sharedWith) {
    static NvmlDevice whole(DeviceInfo info, NvmlHandle handle) {
        return new NvmlDevice(info, handle, handle, 1);
    }

    NvmlDevice sharedWith(int count) {
        return new NvmlDevice(info, handle, card, count);
    }

    boolean isMig() {
        return info.kind() == DeviceKind.MIG;
    }

    boolean isUnified() {
        return info.kind() == DeviceKind.UNIFIED;
    }

    OptionalInt gpuInstance() {
        return info.mig().isPresent() ? info.mig().get().gpuInstance() : OptionalInt.empty();
    }
}
