package dev.ullage.cli.estimate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.common.model.Counts;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.model.PlannedNeeds.Need;
import dev.ullage.coordinator.planning.estimate.PlannedStages;
import dev.ullage.coordinator.planning.estimate.Reading;
import dev.ullage.coordinator.planning.estimate.SetupReader;
import java.nio.file.Path;
import java.util.List;

/**
 * What the ranks of a job were estimated to need, as they bring it along.
 *
 * @param ranks of the job; a multiple of the stages
 * @param stages what each rank of a pipeline stage needs; ranks of a stage follow each other
 * @param assumptions what was taken where a field was not given, for people
 */
public record JobEstimate(int ranks, List<PlannedNeeds> stages, List<String> assumptions) {
    /** The variable that brings it to the ranks; the client reads it. */
    public static final String VARIABLE = "ULLAGE_ESTIMATE";

    /** Of one variable, with its name: Linux gives a process no longer string. */
    private static final int MOST_CHARACTERS = 128 * 1024 - 64;

    public JobEstimate {
        stages = List.copyOf(stages);
        assumptions = List.copyOf(assumptions);
        if (stages.isEmpty() || ranks < stages.size() || ranks % stages.size() != 0) {
            throw new IllegalArgumentException(
                    Counts.of(ranks, "rank") + " cannot be " + Counts.of(stages.size(), "stage") + " of equal size");
        }
    }

    /** @param file fields as for {@code ullage estimate --file}, or the answer of {@code ullage estimate --json} */
    public static JobEstimate read(Path file) throws CommandFailure {
        JsonNode root = FieldsFile.object(file);
        try {
            JobEstimate estimate = EstimateReader.isAnswer(root) ? EstimateReader.read(root) : ofFields(file, root);
            int length = estimate.variable().length();
            if (length > MOST_CHARACTERS) {
                throw new IllegalArgumentException(
                        "an estimate of %s makes a variable of %d characters, and no process is given one of more than %d"
                                .formatted(Counts.of(estimate.stages().size(), "stage"), length, MOST_CHARACTERS));
            }
            return estimate;
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(ExitCode.BAD_SETTINGS, file + ": " + e.getMessage(), e);
        }
    }

    private static JobEstimate ofFields(Path file, JsonNode root) throws CommandFailure {
        SetupReader.Result result = SetupReader.read(FieldsFile.fields(file, root));
        if (!result.problems().isEmpty() || result.reading().isEmpty()) {
            throw EstimateCommand.refused(result.problems());
        }
        return of(result.reading().get());
    }

    private static JobEstimate of(Reading reading) {
        return new JobEstimate(reading.likely().layout().worldSize(), PlannedStages.of(reading), reading.assumptions());
    }

    /** @param rank 0 or more, below {@link #ranks()} */
    public PlannedNeeds of(int rank) {
        return stages.get(rank / (ranks / stages.size()));
    }

    /** The value of {@link #VARIABLE}: one line of JSON. */
    public String variable() {
        ObjectNode json = JsonNodeFactory.instance.objectNode().put("ranks", ranks);
        ArrayNode list = json.putArray("stages");
        stages.forEach(stage -> list.add(json(stage)));
        return json.toString();
    }

    /** As a rank's hello says it. */
    private static ObjectNode json(PlannedNeeds needs) {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("stage", needs.stage())
                .put("stages", needs.stages())
                .put("wholeProcess", needs.wholeProcess());
        needs.microBatch().ifPresent(samples -> json.put("microBatch", samples));
        PlannedNeeds.Phases phases = needs.phases();
        ObjectNode peaks = json.putObject("phases");
        put(peaks.putObject("INIT"), phases.init());
        put(peaks.putObject("FORWARD"), phases.forward());
        put(peaks.putObject("BACKWARD"), phases.backward());
        put(peaks.putObject("OPTIMIZER"), phases.optimizer());
        put(peaks.putObject("STEADY"), phases.steady());
        put(json.putObject("optimizerState"), needs.optimizerState());
        return json;
    }

    private static void put(ObjectNode json, Need need) {
        json.put("lowerBytes", need.lower().value())
                .put("bytes", need.point().value())
                .put("upperBytes", need.upper().value())
                .put("stateBytes", need.state().value());
    }
}
