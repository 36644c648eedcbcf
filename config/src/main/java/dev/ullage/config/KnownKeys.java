package dev.ullage.config;

import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigUtil;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueType;
import dev.ullage.common.model.Nearest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Compares what somebody set with the settings that exist, as {@code reference.conf} lists them. */
final class KnownKeys {
    private static final int MAX_TYPING_MISTAKES = 3;

    /** Sections whose entries users name, and what such an entry may hold. */
    private static final Map<String, ConfigObject> NAMED_BY_USERS = Map.of(
            "ullage.limits.jobs",
            ConfigFactory.parseString("policy = \"\", priority = \"\", model-size = \"\", limit = \"\","
                            + " persistent = \"\", peak = \"\", burst-phases = []")
                    .root());

    private final ConfigObject reference;
    private final List<String> all = new ArrayList<>();

    /** @param reference the whole tree with its one root key */
    KnownKeys(ConfigObject reference) {
        this.reference = reference;
        collect("", reference);
    }

    /** What in {@code given} is not a setting, or is a section where a value belongs, or the other way round. */
    List<SettingsProblem> problems(ConfigObject given) {
        List<SettingsProblem> problems = new ArrayList<>();
        compare("", given, reference, problems);
        return problems;
    }

    private void collect(String prefix, ConfigObject section) {
        for (Map.Entry<String, ConfigValue> entry : new TreeMap<>(section).entrySet()) {
            String key = prefix + entry.getKey();
            all.add(key);
            if (entry.getValue() instanceof ConfigObject inner) {
                collect(key + ".", inner);
            }
        }
    }

    private void compare(String prefix, ConfigObject given, ConfigObject known, List<SettingsProblem> problems) {
        for (Map.Entry<String, ConfigValue> entry : new TreeMap<>(given).entrySet()) {
            String key = prefix + ConfigUtil.quoteString(entry.getKey()).replaceAll("^\"([\\w-]+)\"$", "$1");
            ConfigValue value = entry.getValue();
            ConfigValue expected = Optional.<ConfigValue>ofNullable(NAMED_BY_USERS.get(prefix.replaceAll("\\.$", "")))
                    .orElse(known.get(entry.getKey()));
            if (expected == null) {
                problems.add(problem(key, value, "is not a setting" + suggestion(key)));
            } else if (value.valueType() == ConfigValueType.NULL) {
                problems.add(problem(key, value, "must not be null; leave it out for its default"));
            } else if (expected instanceof ConfigObject section) {
                if (value instanceof ConfigObject inner) {
                    compare(key + ".", inner, section, problems);
                } else {
                    problems.add(problem(key, value, "must be a section, as in " + key + " { ... }"));
                }
            } else if (value instanceof ConfigObject) {
                problems.add(problem(key, value, "must be a value, not a section"));
            }
        }
    }

    private String suggestion(String key) {
        return nearest(key).map(near -> "; did you mean " + near + "?").orElse("");
    }

    private Optional<String> nearest(String key) {
        String lastName = key.substring(key.lastIndexOf('.') + 1);
        Optional<String> sameName = all.stream()
                .filter(known -> known.endsWith("." + lastName))
                .min(Comparator.comparingInt(known -> Nearest.distance(known, key)));
        return sameName.or(() -> all.stream()
                .min(Comparator.comparingInt(known -> Nearest.distance(known, key)))
                .filter(known -> Nearest.distance(known, key) <= MAX_TYPING_MISTAKES));
    }

    private static SettingsProblem problem(String key, ConfigValue value, String rule) {
        String shown = value.valueType() == ConfigValueType.OBJECT ? "" : SettingsReader.text(value);
        return new SettingsProblem(key, shown, rule, SettingsReader.origin(value.origin()));
    }
}
