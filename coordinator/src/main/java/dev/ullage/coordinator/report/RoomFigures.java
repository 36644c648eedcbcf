package dev.ullage.coordinator.report;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankAccount;
import dev.ullage.common.model.RankAccount.RoomOverTime;
import dev.ullage.coordinator.report.RunReport.Cost;
import dev.ullage.coordinator.report.RunReport.Room;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * The room a job was promised over time, and what that costs. In MiB-seconds, and as a part of the device: the price of
 * a device-hour is shared by memory, so that what is promised to nobody is nobody's cost.
 */
final class RoomFigures {
    private static final double MEBIBYTE_SECONDS_IN_BYTE_HOURS = MemoryBytes.MEBIBYTE / 3_600.0;
    private static final double MILLIS_IN_HOUR = 3_600_000;

    private final List<RankAccount> all;
    private final List<RankAccount> heard;
    private final OptionalLong steps;

    private RoomFigures(List<RankAccount> all, List<RankAccount> heard, OptionalLong steps) {
        this.all = all;
        this.heard = heard;
        this.steps = steps;
    }

    /** @param heard those that said something */
    static RoomFigures of(List<RankAccount> all, List<RankAccount> heard, OptionalLong steps) {
        return new RoomFigures(all, heard, steps);
    }

    Room room() {
        return new Room(
                deviceMillis(),
                sum(RoomFigures::promised, RoomFigures::asByteHours),
                sum(RoomFigures::idle, RoomFigures::asByteHours),
                sum(RoomFigures::neverUsed, RoomFigures::asByteHours));
    }

    Cost cost(Price price) {
        OptionalDouble job = sum(RoomFigures::promised, RoomFigures::asDeviceHours);
        return new Cost(
                price,
                times(job, price),
                steps.isPresent() && steps.getAsLong() > 0 && job.isPresent()
                        ? OptionalDouble.of(job.getAsDouble() * price.perDeviceHour() / steps.getAsLong())
                        : OptionalDouble.empty(),
                OptionalDouble.of(deviceMillis() / MILLIS_IN_HOUR * price.perDeviceHour()),
                times(sum(RoomFigures::idle, RoomFigures::asDeviceHours), price),
                times(sum(RoomFigures::neverUsed, RoomFigures::asDeviceHours), price));
    }

    private static OptionalDouble times(OptionalDouble deviceHours, Price price) {
        return deviceHours.isPresent()
                ? OptionalDouble.of(deviceHours.getAsDouble() * price.perDeviceHour())
                : OptionalDouble.empty();
    }

    /** Each device from its first process of the job to its last. */
    private long deviceMillis() {
        Map<DeviceId, long[]> spans = new TreeMap<>();
        for (RankAccount account : all) {
            long[] span = spans.computeIfAbsent(account.device(), device -> new long[] {0, Long.MAX_VALUE});
            span[0] = Math.max(span[0], account.beganAgoMillis());
            span[1] = Math.min(span[1], account.endedAgoMillis().orElse(0));
        }
        return spans.values().stream().mapToLong(span -> span[0] - span[1]).sum();
    }

    private static OptionalLong promised(RankAccount account) {
        return account.memory()
                .room()
                .map(RoomOverTime::promised)
                .map(OptionalLong::of)
                .orElse(OptionalLong.empty());
    }

    private static OptionalLong idle(RankAccount account) {
        return account.memory()
                .room()
                .map(RoomOverTime::idle)
                .map(OptionalLong::of)
                .orElse(OptionalLong.empty());
    }

    /**
     * A limit that changed was above the peak for some of the time and below it for the rest; what is over at the end
     * was above it in any case.
     */
    private static OptionalLong neverUsed(RankAccount account) {
        if (account.memory().room().isEmpty() || account.memory().peak().isEmpty()) {
            return OptionalLong.empty();
        }
        RoomOverTime room = account.memory().room().get();
        double peak = account.memory().peak().get().value() / (double) MemoryBytes.MEBIBYTE;
        return OptionalLong.of((long) Math.max(0, room.promised() - peak * room.knownMillis() / 1_000));
    }

    private static OptionalDouble asByteHours(RankAccount account, long mebibyteSeconds) {
        return OptionalDouble.of(mebibyteSeconds * MEBIBYTE_SECONDS_IN_BYTE_HOURS);
    }

    private static OptionalDouble asDeviceHours(RankAccount account, long mebibyteSeconds) {
        return account.memory()
                .deviceTotal()
                .filter(total -> !total.isZero())
                .map(total -> OptionalDouble.of(mebibyteSeconds * MEBIBYTE_SECONDS_IN_BYTE_HOURS / total.value()))
                .orElse(OptionalDouble.empty());
    }

    @FunctionalInterface
    private interface Unit {
        OptionalDouble of(RankAccount account, long mebibyteSeconds);
    }

    /** Known when there is one or more, and each is. */
    private OptionalDouble sum(Function<RankAccount, OptionalLong> amount, Unit unit) {
        double sum = 0;
        for (RankAccount account : heard) {
            OptionalLong known = amount.apply(account);
            OptionalDouble part = known.isPresent() ? unit.of(account, known.getAsLong()) : OptionalDouble.empty();
            if (part.isEmpty()) {
                return OptionalDouble.empty();
            }
            sum += part.getAsDouble();
        }
        return heard.isEmpty() ? OptionalDouble.empty() : OptionalDouble.of(sum);
    }
}
