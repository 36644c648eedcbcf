package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceInfo;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * What a {@code CUDA_VISIBLE_DEVICES} makes visible, in its order. Pure.
 *
 * <p>The rules are CUDA's: the list holds ordinals or UUIDs, the first token says which; a UUID may be cut to a
 * beginning that only one device has; of MIG instances one is visible, by its UUID or its old name; the list ends
 * before the first token that is not of its kind or names no device; one that names a device twice makes nothing
 * visible. An ordinal is a number as C reads it: signs count, what follows the digits does not. Which device it means
 * {@link Ordinals} says.
 *
 * @param devices what the process will see, the first one as its device 0
 * @param tokens how many the list has as it was written; 0 for one set to nothing
 * @param warnings one for each token that has no effect or not all of it: value, position, why
 */
public record VisibleDevices(List<DeviceInfo> devices, int tokens, List<String> warnings) {
    private static final Pattern ORDINAL = Pattern.compile("([+-]?\\d{1,9})(.*)", Pattern.DOTALL);
    private static final String GPU_PREFIX = "GPU-";
    private static final String MIG_PREFIX = "MIG-";
    private static final int MAX_TOKENS = 1024;
    private static final int MAX_WARNINGS = 20;

    public VisibleDevices {
        devices = List.copyOf(devices);
        warnings = List.copyOf(warnings);
    }

    /** Of devices that are numbered as the driver does. */
    public static VisibleDevices parse(String list, List<DeviceInfo> devices) {
        return parse(list, Ordinals.byIndex(devices));
    }

    /** @param list the variable's value; an unset variable has none and makes all devices visible */
    static VisibleDevices parse(String list, Ordinals ordinals) {
        if (list.isBlank()) {
            return new VisibleDevices(List.of(), 0, List.of());
        }
        List<String> tokens = List.of(list.split(",", -1)).stream()
                .limit(MAX_TOKENS)
                .map(String::strip)
                .toList();
        Reader reader = new Reader(tokens, ordinals);
        reader.read();
        return new VisibleDevices(reader.visible(), tokens.size(), reader.warnings);
    }

    /** Reads one list; lives for as long as that takes. */
    private static final class Reader {
        private final List<String> tokens;
        private final Ordinals ordinals;
        private final Set<DeviceInfo> found = new LinkedHashSet<>();
        private final List<String> warnings = new ArrayList<>();
        private boolean isVoid;

        Reader(List<String> tokens, Ordinals ordinals) {
            this.tokens = tokens;
            this.ordinals = ordinals;
        }

        void read() {
            String first = tokens.get(0);
            int repeat = firstRepeat(first);
            if (repeat >= 0) {
                voidBy(repeat);
                return;
            }
            for (int i = 0; i < tokens.size(); i++) {
                DeviceNames.Match match = match(i, first);
                if (match.device().isEmpty()) {
                    endAt(i, match.why());
                    return;
                }
                if (!found.add(match.device().get())) {
                    voidBy(i);
                    return;
                }
            }
        }

        List<DeviceInfo> visible() {
            return isVoid ? List.of() : List.copyOf(found);
        }

        /** Repeats count even behind a device that does not exist, up to the first token of another kind. */
        private int firstRepeat(String first) {
            Set<Object> seen = new HashSet<>();
            for (int i = 0; i < tokens.size(); i++) {
                Optional<Object> value = value(tokens.get(i), first);
                if (value.isEmpty()) {
                    return -1;
                }
                if (!seen.add(value.get())) {
                    return i;
                }
            }
            return -1;
        }

        private static Optional<Object> value(String token, String first) {
            if (first.startsWith(GPU_PREFIX) || first.startsWith(MIG_PREFIX)) {
                return token.startsWith(first.substring(0, GPU_PREFIX.length()))
                        ? Optional.of(token)
                        : Optional.empty();
            }
            Matcher ordinal = ORDINAL.matcher(token);
            return ordinal.matches() && Integer.parseInt(ordinal.group(1)) >= 0
                    ? Optional.of(Integer.parseInt(ordinal.group(1)))
                    : Optional.empty();
        }

        private DeviceNames.Match match(int position, String first) {
            String token = tokens.get(position);
            Optional<Object> value = value(token, first);
            boolean isUuid = first.startsWith(GPU_PREFIX) || first.startsWith(MIG_PREFIX);
            if (value.isEmpty()) {
                return DeviceNames.Match.none(
                        isUuid
                                ? "a list that begins with a " + first.substring(0, 3) + " UUID holds no others"
                                : "it is not the number of a device");
            }
            if (first.startsWith(MIG_PREFIX) && position > 0) {
                return DeviceNames.Match.none("of MIG instances only the first one is visible");
            }
            if (isUuid) {
                return DeviceNames.byUuid(token, ordinals.devices());
            }
            Matcher ordinal = ORDINAL.matcher(token);
            if (ordinal.matches() && !ordinal.group(2).isEmpty()) {
                warn(position, "is read as " + value.get() + ", as CUDA does");
            }
            return ordinals.at(((Integer) value.get()).longValue());
        }

        private void voidBy(int repeat) {
            isVoid = true;
            warn(repeat, "names a device a second time, which makes the whole list void");
        }

        private void endAt(int end, String why) {
            warn(end, "ends the list: " + why);
            IntStream.range(end + 1, tokens.size())
                    .forEach(i -> warn(i, "is not looked at: the list ended at token " + (end + 1)));
        }

        private void warn(int position, String what) {
            if (warnings.size() < MAX_WARNINGS) {
                warnings.add("CUDA_VISIBLE_DEVICES token %d %s %s"
                        .formatted(position + 1, DeviceNames.quoted(tokens.get(position)), what));
            }
        }
    }

    /** Whether the list, as written, gives this process exactly one device, as Slurm does for each task. */
    boolean isOneDevice() {
        return tokens == 1 && devices.size() == 1;
    }

    /** {@code 2 devices (4, 5)} or, for one that is a MIG instance, its UUID. */
    String listed() {
        return DeviceNames.listed(devices);
    }
}
