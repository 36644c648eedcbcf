package dev.ullage.common.model;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * What one process of a rank has come to so far, or had come to when it ended: kept by its worker, for reports alone.
 * No limit rests on it. Everything is since the process began, as far as this worker saw it; what nobody told is empty.
 *
 * @param device where its limit was
 * @param worldSize ranks of its job, where it said so
 * @param beganAgoMillis since its worker first heard of it
 * @param endedAgoMillis since its process was found gone; empty: it lives
 */
public record RankAccount(
        RankInstance instance,
        DeviceId device,
        OptionalInt worldSize,
        long beganAgoMillis,
        OptionalLong endedAgoMillis,
        Memory memory,
        Optional<Training> training) {

    /** The process that an account is of. */
    public record Whose(RankInstance instance, DeviceId device, OptionalInt worldSize) {}

    /**
     * Room over time, in MiB-seconds, over the time in which both the limit and what was held were known.
     *
     * @param knownMillis how long that was
     * @param promised the highest limit of its newest order, which nobody else can have
     * @param used of that, what its allocator held
     * @param idle of that, what it did not hold at that moment
     */
    public record RoomOverTime(long knownMillis, long promised, long used, long idle) {}

    /**
     * @param deviceTotal of its device
     * @param peak the most its allocator held
     * @param phases in the order of {@link Phase}: those that were seen, and those that have a limit
     * @param room empty until a limit and a use were known at once
     * @param allocator by its last steps, when it was last heard
     * @param highestFragmentation of any step
     */
    public record Memory(
            Optional<MemoryBytes> deviceTotal,
            Optional<MemoryBytes> peak,
            List<PhaseMemory> phases,
            Optional<RoomOverTime> room,
            Optional<RankWatch.Allocator> allocator,
            Optional<Share> highestFragmentation) {
        public Memory {
            phases = List.copyOf(phases);
        }
    }

    /**
     * @param peak the most that was held in that phase, ever
     * @param limit by the newest order
     */
    public record PhaseMemory(Phase phase, Optional<MemoryBytes> peak, Optional<MemoryBytes> limit) {}

    /**
     * What the client counted.
     *
     * @param elapsedMillis since the client began
     * @param steps done since then
     * @param samples that the script says it went through
     * @param megaflopsPerStep floating-point operations of a step on this rank, in millions, as the script says
     */
    public record Training(
            long elapsedMillis,
            long steps,
            OptionalLong samples,
            OptionalLong megaflopsPerStep,
            PhaseTimes phases,
            Waits waits,
            Latency latency,
            Losses losses) {}

    /** In the order of {@link Phase}: those that were seen. */
    public record PhaseTimes(List<PhaseTime> times) {
        public PhaseTimes {
            times = List.copyOf(times);
        }
    }

    public record PhaseTime(Phase phase, long millis) {}

    /**
     * Time in which the training stood still for memory.
     *
     * @param turnMillis for a turn
     * @param limitMillis to bring a limit in force: the cache given back, or an order waited for
     */
    public record Waits(OptionalLong turnMillis, OptionalLong limitMillis) {}

    /**
     * How long an allocator that times itself took.
     *
     * @param allocations that were timed
     * @param micros all of them together
     */
    public record Latency(OptionalLong allocations, OptionalLong micros) {}

    /**
     * @param points the oldest first, thinned out: few enough for a message
     * @param leftOut reports of a loss that was no number, or out of range
     */
    public record Losses(List<LossPoint> points, long leftOut) {
        public Losses {
            points = List.copyOf(points);
        }
    }

    /** A mean loss up to and with a step, in billionths. */
    public record LossPoint(long step, long billionths) {}

    /** The same, so much later. */
    public RankAccount later(long millis) {
        return new RankAccount(
                instance,
                device,
                worldSize,
                beganAgoMillis + millis,
                endedAgoMillis.isPresent()
                        ? OptionalLong.of(endedAgoMillis.getAsLong() + millis)
                        : OptionalLong.empty(),
                memory,
                training);
    }

    /** The same with another account of its training. */
    public RankAccount withTraining(Optional<Training> other) {
        return new RankAccount(instance, device, worldSize, beganAgoMillis, endedAgoMillis, memory, other);
    }

    /** The same; its process is gone. */
    public RankAccount ended() {
        return new RankAccount(instance, device, worldSize, beganAgoMillis, OptionalLong.of(0), memory, training);
    }
}
