package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The limits on device memory that a driver keeps for cgroups (NVML of R615 and newer, MPS memory partitioning). Every
 * method may block for as long as the driver pleases, and throws {@link IOException} with the driver's answer when it
 * refuses, has no such call, or the device is not there.
 */
public interface DriverLimits {

    /** What is in force for the processes of this cgroup on this device. Needs no privilege. */
    Limits get(DeviceId device, Path cgroup) throws IOException;

    /**
     * Sets both limits to the same amount: what a rank is promised is guaranteed to it, and nothing beyond. Needs root.
     * What is then in force may be another amount, for the driver rounds: ask.
     */
    void set(DeviceId device, Path cgroup, MemoryBytes limit) throws IOException;

    /**
     * No limit and no guarantee. To be called before a cgroup is deleted: else its ancestors keep the guarantee as used
     * up.
     */
    void clear(DeviceId device, Path cgroup) throws IOException;

    /**
     * @param soft what is guaranteed
     * @param hard what cannot be exceeded; empty: no limit
     * @param used by the processes of the cgroup
     */
    record Limits(MemoryBytes soft, Optional<MemoryBytes> hard, MemoryBytes used) {}
}
