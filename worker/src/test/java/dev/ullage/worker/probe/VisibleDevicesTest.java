package dev.ullage.worker.probe;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class VisibleDevicesTest {
    private static final String MIG = "MIG-0b0b0b0b-0000-5000-9000-0000000000b4";
    private static final String OTHER_MIG = "MIG-1c1c1c1c-0000-5000-9000-0000000000b5";

    /** One row of case B01: a value and the devices it makes visible, as indices or as UUIDs. */
    record Row(String value, List<String> expected, String why) {
        static Row of(JsonNode row) {
            return new Row(
                    row.get("value").asText(),
                    texts(row.get("expect")),
                    row.get("why").asText());
        }

        @Override
        public String toString() {
            return "'" + value + "': " + (why.isEmpty() ? "as written" : why);
        }
    }

    @ParameterizedTest
    @MethodSource("rowsOfCaseB01")
    void caseB01(Row row) throws IOException {
        VisibleDevices visible = VisibleDevices.parse(row.value(), devicesOfCaseB01());
        assertThat(visible.devices().stream().map(VisibleDevicesTest::label)).isEqualTo(row.expected());
        // A token that has no effect is named; how many are void by a repeat is one warning.
        boolean isShort = visible.devices().size() < visible.tokens();
        assertThat(visible.warnings().isEmpty())
                .isEqualTo(!isShort && !row.value().contains("gpu"));
    }

    /** All rows but the unset variable, which never becomes a list: {@link DeviceResolverTest} has it. */
    static Stream<Row> rowsOfCaseB01() throws IOException {
        List<Row> rows = StreamSupport.stream(caseB01().get("rows").spliterator(), false)
                .filter(row -> !row.get("value").isNull())
                .map(Row::of)
                .toList();
        assertThat(rows).hasSize(24);
        return rows.stream();
    }

    /** The four devices of the case, and two MIG instances, since one of its rows names one. */
    private static List<DeviceInfo> devicesOfCaseB01() throws IOException {
        List<DeviceInfo> devices = new ArrayList<>();
        for (JsonNode gpu : caseB01().get("gpus")) {
            devices.add(new DeviceInfo(
                    new DeviceId(gpu.get("uuid").asText()),
                    gpu.get("index").asInt(),
                    "A100",
                    DeviceKind.DISCRETE,
                    Optional.empty()));
        }
        devices.add(new DeviceInfo(new DeviceId(MIG), 4, "MIG 1g.5gb", DeviceKind.MIG, Optional.empty()));
        devices.add(new DeviceInfo(new DeviceId(OTHER_MIG), 4, "MIG 1g.5gb", DeviceKind.MIG, Optional.empty()));
        return devices;
    }

    @Test
    void eachTokenWithoutEffectIsNamedWithItsPlaceAndTheReason() throws IOException {
        assertThat(VisibleDevices.parse("0,5,1", devicesOfCaseB01()).warnings())
                .containsExactly(
                        "CUDA_VISIBLE_DEVICES token 2 '5' ends the list: no device of this worker has this index",
                        "CUDA_VISIBLE_DEVICES token 3 '1' is not looked at: the list ended at token 2");
        assertThat(VisibleDevices.parse("GPU-aaaa", devicesOfCaseB01()).warnings())
                .containsExactly("CUDA_VISIBLE_DEVICES token 1 'GPU-aaaa' ends the list:"
                        + " 2 devices of this worker have a UUID that begins so");
        assertThat(VisibleDevices.parse("GPU-cccc,1", devicesOfCaseB01()).warnings())
                .containsExactly("CUDA_VISIBLE_DEVICES token 2 '1' ends the list:"
                        + " a list that begins with a GPU UUID holds no others");
        assertThat(VisibleDevices.parse("0,1,0", devicesOfCaseB01()).warnings())
                .containsExactly("CUDA_VISIBLE_DEVICES token 3 '0' names a device a second time,"
                        + " which makes the whole list void");
        assertThat(VisibleDevices.parse("1gpu2", devicesOfCaseB01()).warnings())
                .containsExactly("CUDA_VISIBLE_DEVICES token 1 '1gpu2' is read as 1, as CUDA does");
        assertThat(VisibleDevices.parse("NoDevFiles", devicesOfCaseB01()).warnings())
                .containsExactly("CUDA_VISIBLE_DEVICES token 1 'NoDevFiles' ends the list:"
                        + " it is not the number of a device");
    }

    @Test
    void aRepeatUnderTwoNamesIsARepeat() throws IOException {
        assertThat(VisibleDevices.parse("GPU-bbbb,GPU-bbbb0000", devicesOfCaseB01())
                        .devices())
                .isEmpty();
        assertThat(VisibleDevices.parse("1,+1", devicesOfCaseB01()).devices()).isEmpty();
        assertThat(VisibleDevices.parse("0,7,7", devicesOfCaseB01()).devices()).isEmpty();
    }

    @Test
    void ofSeveralMigInstancesOneIsVisible() throws IOException {
        VisibleDevices visible = VisibleDevices.parse(MIG + "," + OTHER_MIG, devicesOfCaseB01());
        assertThat(visible.devices()).extracting(VisibleDevicesTest::label).containsExactly(MIG);
        assertThat(visible.warnings())
                .containsExactly("CUDA_VISIBLE_DEVICES token 2 '" + OTHER_MIG
                        + "' ends the list: of MIG instances only the first one is visible");
    }

    @Test
    void anOrdinalNeverMeansAMigInstance() throws IOException {
        assertThat(VisibleDevices.parse("4", devicesOfCaseB01()).devices()).isEmpty();
    }

    @Test
    void numbersBeyondAllRangesAreNoDevicesAndNoErrors() throws IOException {
        assertThat(VisibleDevices.parse("0,99999999999999999999", devicesOfCaseB01())
                        .devices())
                .hasSize(1);
        assertThat(VisibleDevices.parse("0,", devicesOfCaseB01()).devices()).hasSize(1);
        assertThat(VisibleDevices.parse(",".repeat(5000), devicesOfCaseB01()).warnings())
                .hasSizeLessThan(30);
    }

    private static String label(DeviceInfo device) {
        return device.kind() == DeviceKind.MIG ? device.id().value() : Integer.toString(device.index());
    }

    private static JsonNode caseB01() throws IOException {
        try (InputStream json = VisibleDevicesTest.class.getResourceAsStream("/cases/B01/cuda-visible-devices.json")) {
            return new ObjectMapper().readTree(Objects.requireNonNull(json));
        }
    }

    private static List<String> texts(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false)
                .map(JsonNode::asText)
                .toList();
    }
}
