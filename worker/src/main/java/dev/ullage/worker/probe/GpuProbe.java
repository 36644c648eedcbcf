package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceReading;
import java.util.List;
import java.util.Optional;

/**
 * The devices of this host and what their memory holds.
 *
 * <p>Threads: every method may block for as long as a driver pleases, for ever if it hangs. Call them from a thread
 * kept for that, never from an actor's dispatcher. Implementations are safe to call from several threads, so that one
 * device that hangs need not stop the reading of the others.
 *
 * <p>Errors: a probe that cannot work at all is never made (its factory says why). Once made, no method throws for what
 * a device or driver does: what cannot be read is an empty {@code Optional}, never zero, and a problem says why.
 */
public interface GpuProbe extends AutoCloseable {
    /** One line for people: where the readings come from, with the driver's version if there is one. */
    String description();

    /** The devices that can be allocated on, in the order of their index, as found when last looked for. */
    List<DeviceInfo> devices();

    /**
     * Looks for devices again and returns {@link #devices()} as they are now: MIG instances come and go, a lost device
     * may be repaired. One that stays keeps its id, and whoever reads it notices nothing.
     */
    default List<DeviceInfo> rescan() {
        return devices();
    }

    /** The devices that exist but are not in {@link #devices()}, and what is not known about those that are. */
    List<DeviceProblem> problems();

    /**
     * Why a device that was listed once and is not now can hold nothing any more: its memory was given to MIG
     * instances, or it was an instance and is none now. Empty for one that is merely silent or lost, which may come
     * back with all that it held. As found when last looked for; asks no driver.
     */
    default Optional<String> retired(DeviceId id) {
        return Optional.empty();
    }

    /**
     * The order in which CUDA numbers the devices for a process that does not set {@code CUDA_DEVICE_ORDER}; empty when
     * that cannot be told. Asks CUDA, which is costly the first time, so only for who cannot do without.
     */
    default Optional<List<DeviceId>> fastestFirst() {
        return Optional.empty();
    }

    /** Limits that the driver itself keeps; empty where this probe has no driver. Their calls may still be refused. */
    default Optional<DriverLimits> driverLimits() {
        return Optional.empty();
    }

    /** The memory of one device now. For an id that is not in {@link #devices()} the reading is empty and says so. */
    DeviceReading read(DeviceId id);

    /**
     * Lets go of the driver, if there is one: its readings after this are empty and say so. A second call does nothing.
     */
    @Override
    void close();
}
