package dev.ullage.config;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.SimulatedSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * How a worker looks after its devices and ranks.
 *
 * @param sampleInterval between two readings of a device
 * @param tick between two looks at what is due
 * @param resendAfter how long an order may stay unconfirmed before it is sent again
 * @param processCheck between two looks for the ranks' processes
 * @param maxRanks the most ranks served at once
 * @param turnDeadline how long a rank waits for a turn before it goes on without one
 * @param watch how closely they are watched
 * @param enforcement how limits are held, and what is said when one is not
 * @param host what the host has for jobs, where it is not to be measured
 */
public record WorkerSettings(
        Devices devices,
        Duration sampleInterval,
        Duration tick,
        Duration resendAfter,
        Duration processCheck,
        int maxRanks,
        Duration turnDeadline,
        WatchSettings watch,
        Enforcement enforcement,
        Host host) {

    /** Watches its ranks and holds them by the defaults. */
    public WorkerSettings(
            Devices devices,
            Duration sampleInterval,
            Duration tick,
            Duration resendAfter,
            Duration processCheck,
            int maxRanks,
            Duration turnDeadline) {
        this(
                devices,
                sampleInterval,
                tick,
                resendAfter,
                processCheck,
                maxRanks,
                turnDeadline,
                WatchSettings.defaults(),
                Enforcement.DEFAULTS,
                Host.MEASURED);
    }

    /**
     * Where devices come from.
     *
     * @param simulate simulated devices; empty: real ones
     * @param nvmlLibrary the library to load instead of the driver's own
     * @param lockDir where the workers of a host exclude each other, instead of the system's default
     */
    public record Devices(Optional<SimulatedSpec> simulate, Optional<Path> nvmlLibrary, Optional<Path> lockDir) {}

    /**
     * What the host has for jobs.
     *
     * @param cpuMilli processor time in thousandths of a core; empty: what is measured
     * @param memory of the host; empty: what is measured
     */
    public record Host(OptionalInt cpuMilli, Optional<MemoryBytes> memory) {
        public static final Host MEASURED = new Host(OptionalInt.empty(), Optional.empty());
    }

    /**
     * @param defaultOverhead what a process is taken to use beside its allocator until that is measured
     * @param alarmTolerance how far above its ceiling a rank's processes may be measured without an alarm
     * @param alarmAfter readings in a row above that before there is one, 1 or more
     * @param driver whether the driver's own memory limits are used where they can be
     */
    public record Enforcement(MemoryBytes defaultOverhead, MemoryBytes alarmTolerance, int alarmAfter, Driver driver) {

        /** Used where they can be, or not at all. */
        public enum Driver {
            AUTO,
            OFF
        }

        public static final Enforcement DEFAULTS =
                new Enforcement(MemoryBytes.ofMebibytes(512), MemoryBytes.ofMebibytes(64), 3, Driver.AUTO);
    }
}
