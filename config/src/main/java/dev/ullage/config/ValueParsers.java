package dev.ullage.config;

import dev.ullage.common.model.Cpus;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.MemorySizes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.Share;
import dev.ullage.common.model.Shares;
import dev.ullage.common.model.SimulatedSpec;
import dev.ullage.common.model.Weight;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Texts to values. Each throws {@link IllegalArgumentException} whose message goes on from "key = value". */
final class ValueParsers {
    private static final Pattern WHOLE = Pattern.compile("-?\\d{1,18}");
    private static final Pattern LOOKS_LIKE_A_SHARE = Pattern.compile(".*(%|bp)|\\d*\\.\\d+");
    private static final MemoryBytes MOST_OF_A_MODEL = MemoryBytes.ofGibibytes(1L << 20);
    private static final Pattern PRICE = Pattern.compile("\\d{1,6}(\\.\\d{1,9})?");
    private static final Pattern CURRENCY = Pattern.compile("\\p{L}{1,8}|\\p{Sc}");
    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9._-]{1,253}|[0-9a-fA-F:.]{2,45}");

    private ValueParsers() {}

    static Function<String, Integer> wholeNumber(int min, int max) {
        return text -> {
            if (!WHOLE.matcher(text.strip()).matches()
                    || Long.parseLong(text.strip()) < min
                    || Long.parseLong(text.strip()) > max) {
                throw new IllegalArgumentException("must be a whole number from " + min + " to " + max);
            }
            return Integer.parseInt(text.strip());
        };
    }

    static <E extends Enum<E>> Function<String, E> oneOf(Class<E> type, Function<E, String> label) {
        return text -> Arrays.stream(type.getEnumConstants())
                .filter(value -> label.apply(value).equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("must be one of: "
                        + Arrays.stream(type.getEnumConstants()).map(label).collect(Collectors.joining(", "))));
    }

    /** A switch; {@code true} and {@code false} are other words for it. */
    static boolean onOrOff(String text) {
        return switch (text.strip()) {
            case "on", "true" -> true;
            case "off", "false" -> false;
            default -> throw new IllegalArgumentException("must be on or off");
        };
    }

    static Share share(String text) {
        return explained("must be a share from 0% to 100%", () -> Shares.parse(text));
    }

    static MemoryBytes size(String text) {
        return explained("must be an amount of memory", () -> MemorySizes.parse(text));
    }

    /** An amount that can be multiplied by any weight without overflow. */
    static MemoryBytes modestSize(String text) {
        MemoryBytes size = size(text);
        if (size.isMoreThan(MOST_OF_A_MODEL)) {
            throw new IllegalArgumentException("must be at most 1024 TiB");
        }
        return size;
    }

    static Optional<MemoryBytes> optionalSize(String text) {
        return text.isBlank() ? Optional.empty() : Optional.of(modestSize(text));
    }

    /** More than nothing. */
    static Optional<MemoryBytes> optionalSizeOfSome(String text) {
        Optional<MemoryBytes> size = optionalSize(text);
        if (size.map(MemoryBytes::isZero).orElse(false)) {
            throw new IllegalArgumentException("must be more than 0; leave it empty for what is measured");
        }
        return size;
    }

    /** In thousandths of a core. */
    static OptionalInt optionalCpus(String text) {
        return text.isBlank() ? OptionalInt.empty() : OptionalInt.of(Cpus.parse(text));
    }

    static Weight weight(String text) {
        return explained("must be a weight from 0.0001 to 100", () -> Weight.parse(text));
    }

    static Priority priority(String text) {
        return oneOf(Priority.class, Priority::label).apply(text);
    }

    static PolicyName policy(String text) {
        return oneOf(PolicyName.class, PolicyName::label).apply(text);
    }

    static ObservedPredictor observedPredictor(String text) {
        return oneOf(ObservedPredictor.class, ObservedPredictor::label).apply(text);
    }

    /** An amount has a unit or is whole; a share has a % or bp, or is a fraction. */
    static FixedLimit fixedLimit(String text) {
        return explained(
                "must be an amount of memory or a share of the device",
                () -> LOOKS_LIKE_A_SHARE.matcher(text.strip()).matches()
                        ? FixedLimit.of(Shares.parse(text))
                        : FixedLimit.of(MemorySizes.parse(text)));
    }

    /** An address that others can connect to: not the one that means "all of mine". */
    /** A phase in which a job may have its burst. */
    static Phase burstPhase(String text) {
        EnumSet<Phase> possible = EnumSet.complementOf(EnumSet.of(Phase.INIT, Phase.IDLE));
        return possible.stream()
                .filter(phase -> phase.name().equalsIgnoreCase(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("must be one or more of "
                        + possible.stream()
                                .map(phase -> phase.name().toLowerCase(Locale.ROOT))
                                .collect(Collectors.joining(", "))));
    }

    static String reachableHost(String text) {
        String host = host(text);
        if (host.equals("0.0.0.0") || host.equals("::")) {
            throw new IllegalArgumentException("must be an address at which the other nodes reach this one");
        }
        return host;
    }

    static NodeAddress nodeAddress(String text) {
        return NodeAddress.parse(text);
    }

    static String nodeName(String text) {
        return new NodeId(text).value();
    }

    /** A path, absolute from here on; {@code ~/} is the home of {@code environment}. */
    static Path path(String text, Map<String, String> environment) {
        String home = environment.getOrDefault("HOME", "");
        if (text.startsWith("~/") && !home.isEmpty()) {
            return Path.of(home, text.substring(2));
        }
        return Path.of(text).toAbsolutePath().normalize();
    }

    static Function<String, Optional<Path>> optionalPath(Map<String, String> environment) {
        return text -> text.isEmpty() ? Optional.empty() : Optional.of(path(text, environment));
    }

    static Optional<SimulatedSpec> simulation(String text) {
        return text.isBlank()
                ? Optional.empty()
                : explained(
                        "must name simulated devices such as 8xH100-80G,2xA100-40G",
                        () -> Optional.of(SimulatedSpec.parse(text)));
    }

    /** A host name or an IP address. */
    static String host(String text) {
        if (!HOST.matcher(text).matches()) {
            throw new IllegalArgumentException("must be a host name or an IP address, without a port");
        }
        return text;
    }

    /** Money for a whole device and an hour; empty: not known. */
    static Optional<Double> optionalPrice(String text) {
        if (text.isEmpty()) {
            return Optional.empty();
        }
        if (!PRICE.matcher(text).matches() || !(Double.parseDouble(text) > 0)) {
            throw new IllegalArgumentException("must be more than 0 and less than 1000000, as in 2.50, or empty");
        }
        return Optional.of(Double.parseDouble(text));
    }

    static String currency(String text) {
        if (!CURRENCY.matcher(text).matches()) {
            throw new IllegalArgumentException("must be 1 to 8 letters, as in EUR, or one sign of a currency");
        }
        return text;
    }

    private static <T> T explained(String rule, Supplier<T> parser) {
        try {
            return parser.get();
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(rule + ": " + e.getMessage(), e);
        }
    }
}
