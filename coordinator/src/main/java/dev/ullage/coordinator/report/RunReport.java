package dev.ullage.coordinator.report;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankAccount.LossPoint;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * What a job has come to. What nobody told is empty, and a sum is empty unless all its parts are known; shares are 0 to
 * 1. Made by {@link RunFigures}.
 */
public record RunReport(
        Scope scope,
        Memory memory,
        Compute compute,
        Loss loss,
        Room room,
        Optional<Cost> cost,
        List<OneProcess> processes) {
    public RunReport {
        processes = List.copyOf(processes);
    }

    /**
     * @param isRunning whether a process of it lives
     * @param ranks different ranks among the processes
     * @param devices where they are or were
     * @param silent processes that never said anything, of which the figures know nothing
     * @param leftOut processes that the figures are not about, because there are too many
     * @param beganAgoMillis of the first process
     * @param endedAgoMillis of the last; empty: it runs
     */
    public record Scope(
            boolean isRunning,
            int ranks,
            OptionalInt worldSize,
            int nodes,
            int devices,
            int silent,
            int leftOut,
            long beganAgoMillis,
            OptionalLong endedAgoMillis) {}

    /**
     * @param utilisation what was held of what was promised, over time
     * @param fragmentation mean of the processes' newest
     * @param highestFragmentation of any step of any process
     * @param allocationMicros mean time of an allocation, where the allocators time themselves
     */
    public record Memory(
            OptionalDouble utilisation,
            OptionalDouble fragmentation,
            OptionalDouble highestFragmentation,
            OptionalDouble allocationMicros,
            OptionalLong retries,
            OptionalLong refusals,
            List<PhasePeak> phases) {
        public Memory {
            phases = List.copyOf(phases);
        }
    }

    /**
     * A phase at the process that held most in it.
     *
     * @param rank whose it is
     * @param planned by the newest plan of the coordinator that answers
     * @param limit by the newest order
     */
    public record PhasePeak(
            Phase phase,
            int rank,
            Optional<MemoryBytes> peak,
            Optional<MemoryBytes> planned,
            Optional<MemoryBytes> limit) {}

    /**
     * @param steps of the rank that did most, over its restarts
     * @param stepsPerSecond of a rank, while it trained: without its time in INIT
     * @param samples of all ranks
     * @param samplesPerSecond of the whole job
     * @param phases of all ranks together
     * @param waitShare of all their time: waiting for turns and for limits
     * @param flopsPerSecond of the whole job
     * @param flopsPerByte operations of a step by the most that was held
     */
    public record Compute(
            OptionalLong steps,
            OptionalDouble stepsPerSecond,
            OptionalLong samples,
            OptionalDouble samplesPerSecond,
            List<PhaseShare> phases,
            OptionalDouble waitShare,
            OptionalLong turnWaitMillis,
            OptionalLong limitWaitMillis,
            OptionalDouble flopsPerSecond,
            OptionalDouble flopsPerByte) {}

    public record PhaseShare(Phase phase, long millis, double share) {}

    /**
     * @param rank whose points they are: the lowest that says its loss; empty: none does
     * @param leftOut losses of all ranks that were no number or out of range
     */
    public record Loss(OptionalInt rank, List<LossPoint> points, long leftOut) {
        public Loss {
            points = List.copyOf(points);
        }
    }

    /**
     * Room over time, of all processes, in byte-hours.
     *
     * @param deviceMillis each device from the first process on it to the last
     * @param promised the limits: what nobody else could have
     * @param idle of that, what was not held at the moment
     * @param neverUsed of that, what was above the highest peak of its process for all its life; at least so much
     */
    public record Room(long deviceMillis, OptionalDouble promised, OptionalDouble idle, OptionalDouble neverUsed) {}

    /**
     * By the part of a device's memory that was promised: half of its memory for an hour costs half of a device-hour.
     *
     * @param wholeDevices as if the devices had been the job's alone
     */
    public record Cost(
            Price price,
            OptionalDouble job,
            OptionalDouble perStep,
            OptionalDouble wholeDevices,
            OptionalDouble idle,
            OptionalDouble neverUsed) {}

    /** One process in short. */
    public record OneProcess(
            int rank,
            long pid,
            String node,
            String device,
            boolean isRunning,
            Optional<MemoryBytes> peak,
            Optional<MemoryBytes> limit,
            OptionalDouble utilisation,
            OptionalLong steps,
            OptionalDouble stepsPerSecond,
            OptionalDouble waitShare) {}
}
