package dev.ullage.cli.estimate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.cli.CliEnvironment;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.show.Terminal;
import dev.ullage.common.model.Phase;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a job is started with: fields, or an answer that was made of them. */
class JobEstimateTest {
    private static final JsonMapper MAPPER = new JsonMapper();
    private static final String FIELDS =
            """
            {"model": "llama3.1-8b", "tp": 2, "pp": 2, "dp": 2, "sequence": 4096, "micro-batch": 1,
             "global-batch": 8, "attention": "flash", "recompute": "none", "framework": "megatron"}
            """;

    private final Path folder;

    JobEstimateTest(@TempDir Path folder) {
        this.folder = folder;
    }

    private Path write(String text) throws IOException {
        return Files.writeString(folder.resolve("estimate.json"), text);
    }

    private ObjectNode answer(String... more) throws IOException {
        StringWriter out = new StringWriter();
        String[] words = new String[3 + more.length];
        words[0] = "--file";
        words[1] = write(FIELDS).toString();
        words[2] = "--json";
        System.arraycopy(more, 0, words, 3, more.length);
        EstimateCommand.commandLine(new CliEnvironment(
                        Map.of(), new PrintWriter(out), new PrintWriter(new StringWriter()), Terminal.NONE))
                .execute(words);
        return (ObjectNode) MAPPER.readTree(out.toString());
    }

    @Test
    void anAnswerIsReadAsTheFieldsItWasMadeOf() throws Exception {
        JobEstimate ofFields = JobEstimate.read(write(FIELDS));
        JobEstimate ofAnswer = JobEstimate.read(write(answer().toString()));

        assertThat(ofAnswer).isEqualTo(ofFields);
        assertThat(ofFields.ranks()).isEqualTo(8);
        assertThat(ofFields.stages()).hasSize(2);
        assertThat(ofFields.of(3).stage()).isZero();
        assertThat(ofFields.of(4).stage()).isOne();
        assertThat(ofFields.of(0).highest()).isNotEqualTo(ofFields.of(4).highest());
    }

    @Test
    void ranksAreToldWhatTheirHelloSays() throws Exception {
        JobEstimate estimate = JobEstimate.read(write(FIELDS));
        JsonNode json = MAPPER.readTree(estimate.variable());

        assertThat(json.path("ranks").asInt()).isEqualTo(8);
        JsonNode stage = json.path("stages").get(1);
        assertThat(stage.path("stage").asInt()).isOne();
        assertThat(stage.path("wholeProcess").asBoolean()).isTrue();
        assertThat(stage.path("microBatch").asInt()).isOne();
        assertThat(stage.path("phases").path("FORWARD").path("upperBytes").asLong())
                .isEqualTo(estimate.of(7)
                        .first(Phase.FORWARD)
                        .orElseThrow()
                        .upper()
                        .value());
    }

    @Test
    void whatWasTakenWhereAFieldIsMissingIsKept() throws Exception {
        assertThat(JobEstimate.read(write(FIELDS.replace("\"attention\": \"flash\",", "")))
                        .assumptions())
                .containsExactly("attention is not given: flash is taken");
    }

    @Test
    void anEstimateThatIsNoneOfALimitIsRefused() throws Exception {
        assertThatThrownBy(() -> JobEstimate.read(write(FIELDS.replace("{", "{\"measure\": \"allocated\","))))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("estimate.json: measure is allocated");
        assertThatThrownBy(() ->
                        JobEstimate.read(write(answer("--measure", "allocated").toString())))
                .hasMessageContaining("measure is allocated");
        ObjectNode older = answer();
        older.remove("measure");
        assertThatThrownBy(() -> JobEstimate.read(write(older.toString())))
                .hasMessageContaining("measure is missing: made by an older version");
    }

    @Test
    void anAlteredAnswerIsRefusedWithTheField() throws Exception {
        ObjectNode absent = answer();
        ((ObjectNode) absent.at("/stages/1/ranges/FORWARD")).remove("upper");
        ObjectNode fewer = answer();
        fewer.put("worldSize", 7);
        ObjectNode newer = answer();
        newer.put("schema", 99);

        assertThatThrownBy(() -> JobEstimate.read(write(absent.toString())))
                .hasMessageContaining("upper of FORWARD must be bytes, at most 1125899906842624, is absent");
        ObjectNode huge = answer();
        ((ObjectNode) huge.at("/stages/0/ranges/STEADY")).put("upper", Long.MAX_VALUE);
        assertThatThrownBy(() -> JobEstimate.read(write(huge.toString())))
                .hasMessageContaining("upper of STEADY must be bytes, at most 1125899906842624, is 922337203685477580");
        assertThatThrownBy(() -> JobEstimate.read(write(fewer.toString())))
                .hasMessageContaining("stages must be in order and of equal size, 7 ranks in all");
        assertThatThrownBy(() -> JobEstimate.read(write(newer.toString())))
                .hasMessageContaining("an estimate of schema 99, this version reads 1");
    }

    @Test
    void badFieldsAreNamedAsTheEstimateItselfDoes() {
        assertThatThrownBy(() -> JobEstimate.read(write(FIELDS.replace("\"pp\": 2", "\"pp\": 0"))))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("pp");
        assertThatThrownBy(() -> JobEstimate.read(write(FIELDS.replace("llama3.1-8b", "gpt-9"))))
                .hasMessageContaining("model: \"gpt-9\"");
        assertThatThrownBy(() -> JobEstimate.read(folder.resolve("none.json"))).hasMessageContaining("cannot read");
        assertThatThrownBy(() -> JobEstimate.read(write("[1]"))).hasMessageContaining("a JSON object of fields");
    }

    @Test
    void aModelsConfigIsFoundBesideTheFile() throws Exception {
        Files.writeString(
                folder.resolve("config.json"),
                """
                {"model_type": "llama", "num_hidden_layers": 4, "hidden_size": 512, "num_attention_heads": 8,
                 "intermediate_size": 2048, "vocab_size": 32000}
                """);
        JobEstimate estimate = JobEstimate.read(write("{\"config\": \"config.json\", \"dp\": 3, \"sequence\": 128}"));

        assertThat(estimate.ranks()).isEqualTo(3);
    }
}
