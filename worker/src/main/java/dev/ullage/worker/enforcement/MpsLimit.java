package dev.ullage.worker.enforcement;

import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.MemoryBytes;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The variable {@code CUDA_MPS_PINNED_DEVICE_MEM_LIMIT} of a process that MPS serves: {@code 0=1G,1=512M}, read once
 * when the process starts. G and M are binary. Pure.
 */
public final class MpsLimit {
    public static final String VARIABLE = "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT";

    private static final Pattern ENTRY = Pattern.compile("\\s*([\\w-]+)\\s*=\\s*(\\d{1,9})\\s*([GM])B?\\s*");

    private MpsLimit() {}

    /**
     * What a process was started with for this device; empty when the text does not say, or not for certain.
     *
     * @param isRenumbered whether the process numbers its devices otherwise than the host
     */
    public static Optional<MemoryBytes> of(String text, DeviceInfo device, boolean isRenumbered) {
        Map<String, MemoryBytes> entries = new TreeMap<>();
        for (String part : text.split(",", -1)) {
            Matcher entry = ENTRY.matcher(part);
            if (!entry.matches()) {
                return Optional.empty();
            }
            long number = Long.parseLong(entry.group(2));
            entries.put(
                    entry.group(1),
                    entry.group(3).equals("G") ? MemoryBytes.ofGibibytes(number) : MemoryBytes.ofMebibytes(number));
        }
        MemoryBytes byUuid = entries.get(device.id().value());
        if (byUuid != null) {
            return Optional.of(byUuid);
        }
        return isRenumbered ? Optional.empty() : Optional.ofNullable(entries.get(Integer.toString(device.index())));
    }
}
