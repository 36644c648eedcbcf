package dev.ullage.worker.probe;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.MigSlice;
import dev.ullage.worker.probe.DeviceResolution.Refused;
import dev.ullage.worker.probe.DeviceResolution.Resolved;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Which device a rank is on: cases B02, B04, B06 and I01, and what surrounds them. */
class DeviceCasesTest {
    private static final String PCI = "PCI_BUS_ID";
    private static final String MIG = "MIG-0b0b0b0b-0000-5000-9000-0000000000b4";

    /** The variables of a rank; a null is one that is not set. */
    private record Rank(
            int localRank,
            @Nullable String visible,
            @Nullable String order,
            @Nullable String container,
            @Nullable String device) {
        DeviceResolution on(List<DeviceInfo> devices, Optional<List<DeviceId>> fastestFirst) {
            return DeviceResolver.resolve(
                    new DeviceRequest(
                            Optional.ofNullable(visible),
                            OptionalInt.of(localRank),
                            Optional.ofNullable(device),
                            Optional.ofNullable(order),
                            Optional.ofNullable(container)),
                    devices,
                    () -> fastestFirst);
        }

        DeviceResolution on(List<DeviceInfo> devices) {
            return on(devices, Optional.empty());
        }
    }

    @Test
    void caseB02EachLocalRankIsAPlaceInTheListThatTheLauncherPassedOn() throws IOException {
        int checked = 0;
        for (JsonNode launch : json("B02/launcher-env.json")) {
            List<DeviceInfo> devices = equal(launch.path("physical_gpus").intValue());
            String visible = launch.path("env").path("CUDA_VISIBLE_DEVICES").textValue();
            for (Map.Entry<String, JsonNode> expected :
                    launch.path("expect_map").properties()) {
                int localRank = Integer.parseInt(expected.getKey().replace("local_rank ", ""));
                assertThat(index(rank(localRank, visible).on(devices)))
                        .isEqualTo(expected.getValue().intValue());
                checked++;
            }
        }
        assertThat(checked).isEqualTo(4);
        // A count that is smaller than the list: the first of the list, never GPUs 0 and 1.
        assertThat(index(rank(0, "2,4,5,7").on(equal(8)))).isEqualTo(2);
        assertThat(index(rank(1, "2,4,5,7").on(equal(8)))).isEqualTo(4);
        // Four ranks, two devices.
        assertThat(refusal(rank(2, "2,3").on(equal(4)))).contains("leaves 2 devices (2, 3)");
        assertThat(refusal(rank(3, "2,3").on(equal(4)))).contains("local rank 3");
    }

    @Test
    void caseB04AmongUnequalDevicesANumberMeansWhatCudaSaysOrNothing() throws IOException {
        JsonNode order = json("B04/order.json");
        List<DeviceInfo> devices = listed(order.path("nvidia_smi_L"));
        List<DeviceId> fastestFirst = new ArrayList<>();
        order.path("cuda_order_without_setting").forEach(id -> fastestFirst.add(new DeviceId(id.textValue())));
        Optional<List<DeviceId>> cuda = Optional.of(fastestFirst);

        for (String setting : new String[] {"FASTEST_FIRST", null}) {
            Rank one = new Rank(0, "1", setting, null, null);
            assertThat(id(one.on(devices, cuda))).isEqualTo("GPU-5090");
            assertThat(refusal(one.on(devices)))
                    .contains("only CUDA knows; set CUDA_DEVICE_ORDER=PCI_BUS_ID, or name devices by UUID")
                    .contains("NVIDIA GeForce RTX 5090, NVIDIA RTX PRO 6000 Blackwell Workstation Edition");
        }
        assertThat(id(new Rank(0, "1", PCI, null, null).on(devices))).isEqualTo("GPU-6000");
        assertThat(id(new Rank(0, "1", PCI, null, null).on(devices, cuda))).isEqualTo("GPU-6000");
        // By UUID there is nothing to be guessed.
        assertThat(id(rank(0, "GPU-6000").on(devices))).isEqualTo("GPU-6000");
        assertThat(id(new Rank(0, null, null, null, "GPU-6000").on(devices))).isEqualTo("GPU-6000");
    }

    @Test
    void withoutAListTheLocalRankIsANumberLikeAnyOther() throws IOException {
        List<DeviceInfo> devices = listed(json("B04/order.json").path("nvidia_smi_L"));

        assertThat(refusal(rank(0, null).on(devices)))
                .startsWith("local rank 0: this worker has 2 devices (0, 1); a number means the fastest device first");
        assertThat(id(new Rank(0, null, PCI, null, null).on(devices))).isEqualTo("GPU-5090");
        Optional<List<DeviceId>> cuda = Optional.of(List.of(new DeviceId("GPU-6000"), new DeviceId("GPU-5090")));
        assertThat(id(rank(0, null).on(devices, cuda))).isEqualTo("GPU-6000");
        assertThat(refusal(rank(2, null).on(devices, cuda))).startsWith("local rank 2: this worker has 2 devices");
    }

    @Test
    void caseB06AListFromAnotherHostIsForeignAndSaysSo() throws IOException {
        for (JsonNode set : json("B06/env-sets.json")) {
            if (set.has("node2_has")) {
                List<DeviceInfo> devices = new ArrayList<>();
                set.path("node2_has")
                        .forEach(
                                id -> devices.add(device(id.textValue(), devices.size(), "A100", DeviceKind.DISCRETE)));
                String visible =
                        set.path("launch_host_env").path("CUDA_VISIBLE_DEVICES").textValue();
                assertThat(refusal(rank(0, visible).on(devices)))
                        .contains("'GPU-host1-a' ends the list: no device of this worker has such a UUID");
            }
            for (Map.Entry<String, JsonNode> expected : set.path("expect_map").properties()) {
                assertThat(index(
                                rank(Integer.parseInt(expected.getKey()), "4,5").on(equal(8))))
                        .isEqualTo(expected.getValue().intValue());
            }
        }
    }

    @Test
    void caseI01AContainerThatWasGivenNothingHasNothing() throws IOException {
        String given = json("I01/zero.json")
                .path(0)
                .path("expect_child_env")
                .path("NVIDIA_VISIBLE_DEVICES")
                .textValue();
        for (String nothing : List.of(given, "none", "")) {
            for (String visible : new String[] {null, "0", "0,1,2,3,4,5,6,7", "GPU-1"}) {
                assertThat(refusal(new Rank(0, visible, null, nothing, null).on(equal(8))))
                        .contains("gives this container no device");
            }
        }
        // The image's own value says nothing about what was asked for.
        assertThat(index(new Rank(1, null, null, "all", null).on(equal(8)))).isEqualTo(1);
    }

    /** Case I01, second row: the rank's own list does not widen what its container was given. */
    @Test
    void aListInsideAContainerIsAboutTheContainersDevices() {
        Rank wide = new Rank(0, "0,1,2,3,4,5,6,7", null, "GPU-60000000", null);
        assertThat(index(wide.on(equal(8)))).isEqualTo(6);
        assertThat(index(new Rank(0, "1", null, "2,3", null).on(equal(8)))).isEqualTo(3);
        assertThat(index(new Rank(1, null, null, "3,2", null).on(equal(8)))).isEqualTo(3);
        assertThat(index(new Rank(0, "GPU-3", null, "2,3", null).on(equal(8)))).isEqualTo(3);
        assertThat(refusal(new Rank(0, "GPU-4", null, "2,3", null).on(equal(8))))
                .contains("no device of this worker has such a UUID")
                .contains("NVIDIA_VISIBLE_DEVICES gives the container 2 of them, numbered from 0");
        assertThat(index(new Rank(0, null, null, "2,3", "1").on(equal(8)))).isEqualTo(3);
    }

    @Test
    void aContainersListThatThisWorkerDoesNotKnowIsLeftAside() {
        DeviceResolution resolution = new Rank(1, null, null, "6,7", null).on(equal(2));

        assertThat(index(resolution)).isEqualTo(1);
        assertThat(resolution.warnings())
                .containsExactly("NVIDIA_VISIBLE_DEVICES '6,7' is left aside: this worker has no device '6'");
    }

    @Test
    void aContainersOnlyInstanceIsItsNumberZero() {
        List<DeviceInfo> devices = new ArrayList<>(equal(2));
        devices.add(device("MIG-a", 2, "A100 MIG 1g.5gb", DeviceKind.MIG));
        devices.add(device("MIG-b", 2, "A100 MIG 1g.5gb", DeviceKind.MIG));

        assertThat(id(new Rank(0, null, null, "MIG-b", null).on(devices))).isEqualTo("MIG-b");
        assertThat(id(new Rank(0, "0", null, "2:1", null).on(devices))).isEqualTo("MIG-b");
        assertThat(id(new Rank(0, "MIG-b", null, "2:1", null).on(devices))).isEqualTo("MIG-b");
        assertThat(refusal(new Rank(0, "", null, "2:1", null).on(devices))).contains("leaves no devices");
    }

    @Test
    void simulatedDevicesAreInNoContainerAndInNoOrderOfCudas() {
        List<DeviceInfo> devices = List.of(
                device("GPU-a", 0, "H100", DeviceKind.SIMULATED), device("GPU-b", 1, "A100", DeviceKind.SIMULATED));

        assertThat(id(new Rank(1, null, null, "void", null).on(devices))).isEqualTo("GPU-b");
        assertThat(id(rank(0, "1").on(devices))).isEqualTo("GPU-b");
    }

    @Test
    void theOldNameOfAnInstanceMeansTheSameInstance() {
        DeviceId parent = new DeviceId("GPU-0a0a0a0a-0000-4000-8000-0000000000a2");
        MigSlice slice = new MigSlice(parent, OptionalInt.of(3), OptionalInt.of(0), Optional.empty());
        List<DeviceInfo> devices = List.of(new DeviceInfo(
                new DeviceId(MIG), 0, "A100 MIG 1g.5gb", DeviceKind.MIG, Optional.empty(), Optional.of(slice)));
        String old = "MIG-GPU-0a0a0a0a-0000-4000-8000-0000000000a2/3/0";

        assertThat(id(rank(5, old).on(devices))).isEqualTo(MIG);
        assertThat(refusal(rank(5, old.replace("/3/0", "/4/0")).on(devices)))
                .contains("no device of this worker has such a UUID");
        // Drivers before 470 know no other names.
        assertThat(id(rank(5, old).on(List.of(device(old, 0, "MIG", DeviceKind.MIG)))))
                .isEqualTo(old);
    }

    private static Rank rank(int localRank, @Nullable String visible) {
        return new Rank(localRank, visible, null, null, null);
    }

    private static List<DeviceInfo> equal(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> device(
                        "GPU-%d0000000-0000-4000-8000-000000000000".formatted(i), i, "H100", DeviceKind.DISCRETE))
                .toList();
    }

    private static List<DeviceInfo> listed(JsonNode lines) {
        Pattern line = Pattern.compile("GPU (\\d+): (.*) \\(UUID: (.*)\\)");
        List<DeviceInfo> devices = new ArrayList<>();
        for (JsonNode text : lines) {
            Matcher matcher = line.matcher(text.textValue());
            assertThat(matcher.matches()).isTrue();
            devices.add(device(
                    matcher.group(3), Integer.parseInt(matcher.group(1)), matcher.group(2), DeviceKind.DISCRETE));
        }
        return devices;
    }

    private static DeviceInfo device(String id, int index, String name, DeviceKind kind) {
        return new DeviceInfo(new DeviceId(id), index, name, kind, Optional.empty());
    }

    private static int index(DeviceResolution resolution) {
        assertThat(resolution).isInstanceOf(Resolved.class);
        return ((Resolved) resolution).device().index();
    }

    private static String id(DeviceResolution resolution) {
        assertThat(resolution).isInstanceOf(Resolved.class);
        return ((Resolved) resolution).device().id().value();
    }

    private static String refusal(DeviceResolution resolution) {
        assertThat(resolution).isInstanceOf(Refused.class);
        return ((Refused) resolution).reason();
    }

    private static JsonNode json(String path) throws IOException {
        try (InputStream in = DeviceCasesTest.class.getResourceAsStream("/cases/" + path)) {
            return new ObjectMapper().readTree(Objects.requireNonNull(in));
        }
    }
}
