package dev.ullage.worker.probe.smi;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.worker.probe.smi.SmiProcess.MigInstance;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Goal: every figure of every recording is read right, and what is not a figure is unknown with what was printed.
 * Method: expected.json has the values as a person reads them, with nothing left out.
 */
class SmiRecordingsTest {
    private static final String FOLDER = "/nvidia-smi/";

    @ParameterizedTest
    @MethodSource("recordings")
    void aRecordingIsReadAsAPersonReadsIt(String file) {
        JsonNode expected = Recordings.json(FOLDER + "expected.json").get(file);

        SmiReport report = SmiOutput.parse(Recordings.text(FOLDER + file));

        assertThat(report.driver()).isEqualTo(text(expected.get("driver")));
        assertThat(report.problems()).isEqualTo(texts(expected.path("problems")));
        assertThat(report.gpus()).hasSize(expected.get("gpus").size());
        for (int i = 0; i < report.gpus().size(); i++) {
            check(report.gpus().get(i), expected.get("gpus").get(i));
        }
    }

    static Stream<String> recordings() {
        Iterable<String> files = () -> Recordings.json(FOLDER + "expected.json").fieldNames();
        return StreamSupport.stream(files.spliterator(), false);
    }

    @Test
    void noRecordingIsLeftOut() throws IOException {
        Path folder = Objects.requireNonNull(
                Path.of(Objects.requireNonNull(SmiRecordingsTest.class.getResource(FOLDER + "expected.json"))
                                .getPath())
                        .getParent());
        Set<String> files = new TreeSet<>();
        try (Stream<Path> found = Files.walk(folder)) {
            found.filter(Files::isRegularFile)
                    .map(file -> folder.relativize(file).toString())
                    .filter(name -> name.endsWith(".txt")
                            || name.endsWith(".csv")
                            || name.endsWith(".xml")
                            || name.endsWith(".prom"))
                    .forEach(files::add);
        }
        assertThat(recordings()).containsExactlyInAnyOrderElementsOf(files).hasSize(45);
    }

    private static void check(SmiGpu gpu, JsonNode expected) {
        assertThat(gpu.id().index().isPresent())
                .isEqualTo(!expected.get("index").isNull());
        gpu.id().index().ifPresent(index -> assertThat(index)
                .isEqualTo(expected.get("index").intValue()));
        assertThat(gpu.id().name()).isEqualTo(text(expected.get("name")));
        assertThat(gpu.id().uuid()).isEqualTo(text(expected.get("uuid")));
        assertThat(gpu.id().pciBusId()).isEqualTo(text(expected.get("pci")));
        assertThat(gpu.memory().total()).as("total").isEqualTo(amount(expected.get("total")));
        assertThat(gpu.memory().reserved()).as("reserved").isEqualTo(amount(expected.get("reserved")));
        assertThat(gpu.memory().used()).as("used").isEqualTo(amount(expected.get("used")));
        assertThat(gpu.memory().free()).as("free").isEqualTo(amount(expected.get("free")));
        assertThat(gpu.mig().enabled())
                .isEqualTo(Optional.ofNullable(expected.get("migMode")).map(JsonNode::booleanValue));
        assertThat(gpu.mig().devices().stream().map(SmiRecordingsTest::row)).isEqualTo(rows(expected.path("mig")));
        assertThat(gpu.processes().isPresent())
                .isEqualTo(!expected.get("processes").isNull());
        assertThat(gpu.processes().orElse(List.of()).stream().map(SmiRecordingsTest::row))
                .isEqualTo(rows(expected.get("processes")));
        assertThat(gpu.problems()).isEqualTo(texts(expected.path("problems")));
    }

    private static SmiAmount amount(JsonNode mebibytes) {
        if (mebibytes.isNull()) {
            return SmiAmount.NOT_PRINTED;
        }
        return mebibytes.isTextual()
                ? SmiAmount.unknown(mebibytes.textValue())
                : SmiAmount.of(MemoryBytes.ofMebibytes(mebibytes.longValue()));
    }

    private static String row(SmiMigDevice device) {
        MigInstance instance = device.instance().orElseThrow();
        return "[%d,%d,%d,%s,%s]"
                .formatted(
                        instance.gpu(),
                        instance.compute(),
                        device.number(),
                        shown(device.memory().total()),
                        shown(device.memory().used()));
    }

    private static String row(SmiProcess process) {
        String instance = process.instance()
                .map(where -> "," + where.gpu() + "," + where.compute())
                .orElse("");
        return "[%d,%s%s]".formatted(process.pid(), shown(process.used()), instance);
    }

    private static String shown(SmiAmount amount) {
        return amount.bytes()
                .map(bytes -> Long.toString(bytes.value() / MemoryBytes.MEBIBYTE))
                .orElse("\"" + amount.reason() + "\"");
    }

    private static List<String> rows(JsonNode array) {
        List<String> rows = new ArrayList<>();
        array.forEach(row -> rows.add(row.toString()));
        return rows;
    }

    private static Optional<String> text(JsonNode value) {
        return value.isNull() ? Optional.empty() : Optional.of(value.textValue());
    }

    private static List<String> texts(JsonNode array) {
        List<String> texts = new ArrayList<>();
        array.forEach(text -> texts.add(text.textValue()));
        return texts;
    }
}
