package dev.ullage.coordinator.planning.balance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ullage.common.model.MemoryBytes;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Against the constants that the authors of the measure test theirs with. */
class FragmentationTest {
    private static JsonNode vectors() throws IOException {
        try (InputStream in = FragmentationTest.class.getResourceAsStream("/fgd/frag_unit_vectors.json")) {
            return new JsonMapper().readTree(in);
        }
    }

    private static RequestMix mix(JsonNode typical) {
        List<RequestMix.Entry> entries = new ArrayList<>();
        for (JsonNode pod : typical) {
            TreeSet<String> models = new TreeSet<>();
            if (!pod.path("gpu_type").textValue().isEmpty()) {
                models.add(pod.path("gpu_type").textValue());
            }
            int devices = pod.path("gpu_number").intValue();
            entries.add(new RequestMix.Entry(
                    new PlacementRequest(
                            devices,
                            devices == 0 ? 0 : pod.path("milli_gpu").longValue(),
                            pod.path("milli_cpu").intValue(),
                            MemoryBytes.ZERO,
                            models),
                    pod.path("percentage").doubleValue()));
        }
        return new RequestMix(entries);
    }

    @Test
    void theSevenPublishedVectors() throws IOException {
        JsonNode vectors = vectors();

        assertThat(vectors.path("cases")).hasSize(7);
        for (JsonNode vector : vectors.path("cases")) {
            String name = vector.path("node").textValue();
            List<DeviceRoom> devices = new ArrayList<>();
            for (JsonNode left : vector.path("milli_gpu_left")) {
                devices.add(new DeviceRoom("" + devices.size(), 1000, left.longValue(), Optional.empty()));
            }
            String model = name.substring(2).split("_", 2)[0];
            NodeRoom node =
                    new NodeRoom(name, model, vector.path("milli_cpu_left").intValue(), MemoryBytes.ZERO, devices);
            PlacementBoard board = PlacementBoard.of(ShareUnit.MILLI_DEVICE, List.of(node));
            RequestMix mix = mix(vectors.path("typical_pods")
                    .path(vector.path("typical_pods").textValue()));

            assertThat(Fragmentation.over(board, mix).ofNode(0))
                    .as(name)
                    .isCloseTo(vector.path("expected_frag_milli").doubleValue(), within(0.01));
        }
    }

    // Goal: memory is measured as shares are. Method: the same node in bytes, of a device of 80 GiB.
    @Test
    void bytesAndThousandthsMeasureAlike() {
        RequestMix halves = RequestMix.of(List.of(
                PlacementRequest.ofDevices(1, MemoryBytes.ofGibibytes(40).value())));
        MemoryBytes whole = MemoryBytes.ofGibibytes(80);
        MemoryBytes left = MemoryBytes.ofGibibytes(20);
        DeviceRoom device = new DeviceRoom("0", whole.value(), left.value(), Optional.empty());
        PlacementBoard board = PlacementBoard.of(
                ShareUnit.BYTES, List.of(new NodeRoom("a", "H100", 1000, MemoryBytes.ZERO, List.of(device))));

        assertThat(Fragmentation.over(board, halves).ofNode(0)).isEqualTo(250);
    }
}
