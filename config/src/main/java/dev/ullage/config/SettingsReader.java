package dev.ullage.config;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigList;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigOrigin;
import com.typesafe.config.ConfigRenderOptions;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueType;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Reads values one by one and collects what is wrong with them. A broken value reads as its default, so that reading
 * can go on; the caller asks for {@link #problems()} before it believes anything.
 */
final class SettingsReader {
    private static final int MAX_SHOWN_LENGTH = 80;

    private final Config merged;
    private final Config defaults;
    private final List<SettingsProblem> problems = new ArrayList<>();

    SettingsReader(Config merged, Config defaults) {
        this.merged = merged;
        this.defaults = defaults;
    }

    List<SettingsProblem> problems() {
        return List.copyOf(problems);
    }

    /**
     * The value of {@code key}; {@code parser} throws {@link IllegalArgumentException} with the rule that is broken.
     */
    <T> T value(String key, Function<String, T> parser) {
        return read(key, value -> parser.apply(single(value)));
    }

    /** The value of a key that has no default of its own; {@code other} where it is not set, or broken. */
    <T> T valueOr(String key, Function<String, T> parser, T other) {
        if (!merged.hasPath(key)) {
            return other;
        }
        ConfigValue value = merged.getValue(key);
        try {
            return value.valueType() == ConfigValueType.OBJECT ? other : parser.apply(single(value));
        } catch (IllegalArgumentException e) {
            problems.add(new SettingsProblem(key, text(value), String.valueOf(e.getMessage()), origin(value.origin())));
            return other;
        }
    }

    /** As {@link #valueOr}, for a list or one text with commas. */
    <T> List<T> listOr(String key, Function<String, T> parser, List<T> other) {
        if (!merged.hasPath(key)) {
            return other;
        }
        ConfigValue value = merged.getValue(key);
        try {
            return value.valueType() == ConfigValueType.OBJECT
                    ? other
                    : items(value).map(parser).toList();
        } catch (IllegalArgumentException e) {
            problems.add(new SettingsProblem(key, text(value), String.valueOf(e.getMessage()), origin(value.origin())));
            return other;
        }
    }

    /** The names in a section that has no defaults, in order; {@link KnownKeys} has reported what is no section. */
    NavigableSet<String> namesIn(String section) {
        return merged.hasPath(section) && merged.getValue(section) instanceof ConfigObject entries
                ? new TreeSet<>(entries.keySet())
                : new TreeSet<>();
    }

    /** The values of {@code key}: a list, or one text with commas, which is what a flag can give. */
    <T> List<T> list(String key, Function<String, T> parser) {
        return read(key, value -> items(value).map(parser).toList());
    }

    /** Reports {@code key} when {@code holds} does not. */
    void require(String key, BooleanSupplier holds, Supplier<String> rule) {
        if (!holds.getAsBoolean()) {
            ConfigValue value = merged.hasPath(key) ? merged.getValue(key) : defaults.getValue(key);
            problems.add(new SettingsProblem(key, text(value), rule.get(), origin(value.origin())));
        }
    }

    private <T> T read(String key, Function<ConfigValue, T> parser) {
        ConfigValue value = valueOrDefault(key);
        try {
            return parser.apply(value);
        } catch (IllegalArgumentException e) {
            problems.add(new SettingsProblem(key, text(value), String.valueOf(e.getMessage()), origin(value.origin())));
            return parser.apply(defaults.getValue(key));
        }
    }

    /** {@link KnownKeys} has already reported a value that is null, or a section that is none. */
    private ConfigValue valueOrDefault(String key) {
        try {
            ConfigValue value = merged.getValue(key);
            return value.valueType() == ConfigValueType.OBJECT ? defaults.getValue(key) : value;
        } catch (ConfigException.Missing | ConfigException.WrongType e) {
            return defaults.getValue(key);
        }
    }

    private static Stream<String> items(ConfigValue value) {
        if (value instanceof ConfigList list) {
            return list.stream().map(SettingsReader::single);
        }
        return Stream.of(single(value).split(",")).map(String::strip).filter(item -> !item.isEmpty());
    }

    private static String single(ConfigValue value) {
        return switch (value.valueType()) {
            case LIST, OBJECT, NULL -> throw new IllegalArgumentException("must be one value");
            case NUMBER, BOOLEAN, STRING -> whole(value);
        };
    }

    /** A number as it was written: 0.20 is not 0.2 in a message. */
    private static String whole(ConfigValue value) {
        return value.valueType() == ConfigValueType.STRING
                ? (String) value.unwrapped()
                : value.render(ConfigRenderOptions.concise());
    }

    /** A value fit for one line of a message. */
    static String text(ConfigValue value) {
        String whole = whole(value);
        String line = whole.length() <= MAX_SHOWN_LENGTH ? whole : whole.substring(0, MAX_SHOWN_LENGTH) + "...";
        return line.isEmpty() ? "\"\"" : line.replaceAll("\\p{Cntrl}", "?");
    }

    static String origin(ConfigOrigin origin) {
        String file = origin.filename();
        if (file == null) {
            return origin.description();
        }
        return origin.lineNumber() > 0 ? file + ": " + origin.lineNumber() : file;
    }
}
