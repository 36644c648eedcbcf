package dev.ullage.config;

import static dev.ullage.config.ValueParsers.wholeNumber;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Priority;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** Reads the section {@code plan}: a cluster that need not exist. */
final class PlanReader {
    private static final int MAX_DEVICES = 1_024;
    private static final int MAX_RANKS = 100_000;
    private static final int MAX_STEP = 1_000_000_000;

    private final SettingsReader reader;

    PlanReader(SettingsReader reader) {
        this.reader = reader;
    }

    PlanSettings read() {
        List<MemoryBytes> devices = reader.list("plan.devices", ValueParsers::size);
        List<Priority> priorities = reader.list("plan.priorities", ValueParsers::priority);
        int perDevice = reader.value("plan.ranks-per-device", wholeNumber(0, MAX_RANKS));
        int asked = reader.value("plan.size", wholeNumber(0, MAX_RANKS));
        OptionalLong step = reader.value("plan.step", PlanReader::step);
        LimitSettings limits = new LimitsReader(reader).read();
        boolean hasProblems = !reader.problems().isEmpty();
        reader.require(
                "plan.devices",
                () -> hasProblems || (!devices.isEmpty() && devices.size() <= MAX_DEVICES),
                () -> "must name 1 to " + MAX_DEVICES + " devices by their memory, as in --device 12288MiB");
        int size = size(asked, perDevice, devices.size(), priorities.size());
        OptionalInt ranksPerDevice = perDevice == 0 ? OptionalInt.empty() : OptionalInt.of(perDevice);
        PlanSettings plan = new PlanSettings(devices, size, ranksPerDevice, priorities, step, limits);
        if (!hasProblems && !devices.isEmpty()) {
            requireFit(plan);
        }
        return plan;
    }

    private static int size(int asked, int perDevice, int devices, int priorities) {
        if (asked > 0) {
            return asked;
        }
        return priorities > 1 && perDevice == 0
                ? priorities
                : (int) Math.min(Integer.MAX_VALUE, (long) Math.max(1, perDevice) * devices);
    }

    private void requireFit(PlanSettings plan) {
        reader.require(
                "plan.size",
                () -> plan.size() <= MAX_RANKS,
                () -> "must be at most " + MAX_RANKS + " ranks, and comes to " + plan.size());
        int ranks = plan.ranksOnDevices().stream().mapToInt(Integer::intValue).sum();
        int priorities = plan.priorities().size();
        reader.require(
                "plan.priorities",
                () -> priorities <= 1 || priorities == ranks,
                () -> "must be one for all " + Counts.of(ranks, "rank") + " on the devices, or " + ranks + ", not "
                        + priorities);
    }

    private static OptionalLong step(String text) {
        return text.isBlank()
                ? OptionalLong.empty()
                : OptionalLong.of(wholeNumber(0, MAX_STEP).apply(text));
    }
}
