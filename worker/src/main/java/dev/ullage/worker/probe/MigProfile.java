package dev.ullage.worker.probe;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.worker.probe.NvmlCalls.RawAttributes;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The name of a MIG device's profile, as {@code nvidia-smi} writes it. Pure. */
final class MigProfile {
    private static final Pattern IN_NAME = Pattern.compile("\\bMIG (\\d+(?:c\\.\\d+)?g\\.\\d+gb\\S*)");
    private static final int PARTS = 8;

    private MigProfile() {}

    /** From the device's own name ({@code NVIDIA A100-SXM4-40GB MIG 1g.5gb}), where drivers put it. */
    static Optional<String> inName(String name) {
        Matcher matcher = IN_NAME.matcher(name);
        return matcher.find() ? Optional.of(matcher.group(1)) : Optional.empty();
    }

    /**
     * From its size and that of its parent: the memory in a name is the share of the card in eighths, of the card's
     * size in whole gibibytes.
     */
    static Optional<String> of(RawAttributes attributes, MemoryBytes cardTotal) {
        long cardGibibytes = (cardTotal.value() + MemoryBytes.GIBIBYTE - 1) / MemoryBytes.GIBIBYTE;
        long mebibytes = attributes.memoryMebibytes();
        if (attributes.gpuSlices() < 1 || mebibytes < 1 || mebibytes > cardTotal.value() / MemoryBytes.MEBIBYTE) {
            return Optional.empty();
        }
        long eighths = Math.floorDiv(mebibytes * MemoryBytes.MEBIBYTE - 1, Math.max(1, cardTotal.value() / PARTS)) + 1;
        long gigabytes = Math.round(Math.min(eighths, PARTS) * cardGibibytes / (double) PARTS);
        String slices = attributes.gpuSlices() + "g." + gigabytes + "gb";
        boolean isWhole = attributes.computeSlices() < 1 || attributes.computeSlices() >= attributes.gpuSlices();
        return Optional.of(isWhole ? slices : attributes.computeSlices() + "c." + slices);
    }
}
