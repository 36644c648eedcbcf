package dev.ullage.worker.probe.smi;

import dev.ullage.common.model.MemoryBytes;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The host's memory as {@code /proc/meminfo} has it, for devices that share it.
 *
 * @param available what can be had without swapping; old kernels do not say
 */
public record HostMemory(MemoryBytes total, Optional<MemoryBytes> available) {
    private static final Pattern TOTAL = Pattern.compile("(?m)^MemTotal:\\s+(\\d{1,15}) kB");
    private static final Pattern AVAILABLE = Pattern.compile("(?m)^MemAvailable:\\s+(\\d{1,15}) kB");

    /** Empty if the text is not one of these. */
    public static Optional<HostMemory> parse(String meminfo) {
        return amount(TOTAL, meminfo).map(total -> new HostMemory(total, amount(AVAILABLE, meminfo)));
    }

    private static Optional<MemoryBytes> amount(Pattern line, String meminfo) {
        Matcher found = line.matcher(meminfo);
        return found.find()
                ? Optional.of(MemoryBytes.of(Math.multiplyExact(Long.parseLong(found.group(1)), 1024L)))
                : Optional.empty();
    }
}
