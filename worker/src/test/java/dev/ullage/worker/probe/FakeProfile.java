package dev.ullage.worker.probe;

import dev.ullage.common.model.MemoryBytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What the fake library is to say for a host full of one kind of GPU, idle.
 *
 * @param reserved bytes the driver keeps of each
 */
record FakeProfile(String name, String driver, long total, long reserved, List<Card> cards) {
    private static final Path FOLDER = Path.of("src/test/resources/nvml-profiles");

    record Card(String uuid, String busId) {}

    /** From one of the recorded profiles; reads just the lines it needs, for there is no YAML library here. */
    static FakeProfile of(String profile) throws IOException {
        List<String> lines = Files.readAllLines(FOLDER.resolve(profile + ".yaml"));
        List<String> memory = lines.subList(lines.indexOf("  memory:"), lines.size());
        List<String> devices = lines.subList(lines.indexOf("devices:"), lines.size());
        List<Card> cards = new ArrayList<>();
        for (int i = 0; i < devices.size(); i++) {
            if (devices.get(i).startsWith("  - index:")) {
                List<String> rest = devices.subList(i, devices.size());
                cards.add(new Card(text("    uuid:", rest), text("      bus_id:", rest)));
            }
        }
        return new FakeProfile(
                text("  name:", lines),
                text("  driver_version:", lines),
                Long.parseLong(text("    total_bytes:", memory)),
                Long.parseLong(text("    reserved_bytes:", memory)),
                cards);
    }

    /** H200, as captured by nvidia_gpu_exporter with driver 590.48.01: 143771 MiB, 614 MiB of them reserved. */
    static FakeProfile h200() {
        List<Card> cards = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            cards.add(new Card(
                    "GPU-4200000%d-0000-4000-8000-000000000000".formatted(i), "00000000:8%d:00.0".formatted(i)));
        }
        return new FakeProfile(
                "NVIDIA H200", "590.48.01", 143771 * MemoryBytes.MEBIBYTE, 614 * MemoryBytes.MEBIBYTE, cards);
    }

    private static String text(String key, List<String> lines) {
        return lines.stream()
                .filter(line -> line.startsWith(key))
                .map(line -> line.substring(key.length())
                        .replaceAll("\\s+#.*", "")
                        .replace("\"", "")
                        .strip())
                .findFirst()
                .orElseThrow();
    }

    FakeNvml applyTo(FakeNvml nvml) {
        for (int index = 0; index < cards.size(); index++) {
            String device = "device." + index + ".";
            nvml.with(device + "uuid", cards.get(index).uuid())
                    .with(device + "name", name)
                    .with(device + "pci", cards.get(index).busId())
                    .with(device + "memory", memory(0));
        }
        return nvml.with("count", cards.size()).with("driver", driver);
    }

    /** The figures of a card on which processes hold so many bytes. */
    String memory(long used) {
        return "%d,%d,%d,%d".formatted(total, reserved, used, total - reserved - used);
    }
}
