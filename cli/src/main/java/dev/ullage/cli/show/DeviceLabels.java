package dev.ullage.cli.show;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Devices by the beginning of their UUID, long enough to be the only one with it: what CUDA itself accepts in place of
 * the whole.
 */
final class DeviceLabels {
    private static final int USUAL_LENGTH = 12;

    private DeviceLabels() {}

    /** Each UUID in a status document with its label. */
    static Map<String, String> of(JsonNode status) {
        TreeSet<String> uuids = new TreeSet<>();
        for (JsonNode node : status.path("nodes")) {
            for (JsonNode device : node.path("devices")) {
                uuids.add(device.path("uuid").asText());
            }
        }
        Map<String, String> labels = new TreeMap<>();
        uuids.forEach(uuid -> labels.put(uuid, label(uuid, uuids)));
        return labels;
    }

    private static String label(String uuid, Collection<String> all) {
        int length = Math.min(USUAL_LENGTH, uuid.length());
        while (length < uuid.length() && isShared(uuid.substring(0, length), all)) {
            length++;
        }
        return uuid.substring(0, length);
    }

    private static boolean isShared(String prefix, Collection<String> all) {
        return all.stream().filter(other -> other.startsWith(prefix)).count() > 1;
    }
}
