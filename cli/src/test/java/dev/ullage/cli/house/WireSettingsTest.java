package dev.ullage.cli.house;

import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigValue;
import dev.ullage.common.testing.Requires;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * The golden files are made with {@code wire-serialization.conf}. What a running system uses must say the same, or they
 * prove nothing.
 */
final class WireSettingsTest {
    private static final String CLUSTER_SYSTEM = "dev/ullage/config/cluster-system.conf";
    private static final String JACKSON = "pekko.serialization.jackson";
    private static final String BINDINGS = "pekko.actor.serialization-bindings";

    @Test
    void aRunningSystemSerializesAsTheGoldenFilesDo() {
        Config running = ConfigFactory.parseResources(CLUSTER_SYSTEM);
        Requires.that(!running.isEmpty(), "no " + CLUSTER_SYSTEM + " on the class path");
        Config resolved = running.withFallback(ConfigFactory.defaultReference()).resolve();
        Config golden = ConfigFactory.parseResources("wire-serialization.conf").resolve();

        assertSame(cbor(resolved), golden.getConfig(JACKSON));
        assertSame(resolved.getConfig(BINDINGS), golden.getConfig(BINDINGS));
    }

    /** What the golden settings say, a running system says too; what they leave open is its own. */
    private static void assertSame(Config running, Config golden) {
        Map<String, String> expected = values(golden);
        Map<String, String> actual = values(running);
        actual.keySet().retainAll(expected.keySet());
        assertThat(actual)
                .as("settings of %s that wire-serialization.conf fixes", CLUSTER_SYSTEM)
                .isEqualTo(expected);
    }

    /** As the serializer reads its settings: its own block goes before the one of all Jackson serializers. */
    private static Config cbor(Config config) {
        return config.getConfig(JACKSON + ".jackson-cbor").withFallback(config.getConfig(JACKSON));
    }

    private static Map<String, String> values(Config config) {
        Map<String, String> values = new TreeMap<>();
        for (Map.Entry<String, ConfigValue> entry : config.entrySet()) {
            values.put(
                    entry.getKey(), normalized(String.valueOf(entry.getValue().unwrapped())));
        }
        return values;
    }

    private static String normalized(String value) {
        return switch (value) {
            case "on" -> "true";
            case "off" -> "false";
            default -> value;
        };
    }
}
