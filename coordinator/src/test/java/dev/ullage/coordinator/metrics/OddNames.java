package dev.ullage.coordinator.metrics;

import java.util.List;

/** Job names that people, launchers and other exporters' bug reports have come up with. */
final class OddNames {
    private OddNames() {}

    static List<String> all() {
        return List.of(
                "a \"quoted\" job",
                "back\\slash",
                "ends in a backslash\\",
                "\\n is not a line break",
                "{curly=\"braces\"} 1",
                "größer, 変換, \ud83d\ude80",
                "line\u2028separator",
                "x".repeat(200),
                "\ud83d\ude80".repeat(100),
                "# TYPE x info",
                "TYPE x info",
                "label name \"Driver Version\"",
                "nvidia_smi_clocks_event_reasons_counters_hw_power_brake_slowdown [us]",
                "metric{...} N/A",
                "NaN");
    }
}
