package dev.ullage.cli.estimate;

import dev.ullage.cli.CliEnvironment;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.MemorySizes;
import dev.ullage.common.model.Share;
import dev.ullage.common.model.Shares;
import dev.ullage.coordinator.planning.estimate.EstimateFields;
import dev.ullage.coordinator.planning.estimate.EstimateFields.Field;
import dev.ullage.coordinator.planning.estimate.Problem;
import dev.ullage.coordinator.planning.estimate.SetupReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code ullage estimate}: memory of each rank and phase before the run, and how good such estimates have been. */
@Command(
        name = "estimate",
        sortOptions = false,
        description = "Works out what memory each rank will need, before the run.",
        footer = {
            "",
            "Fields come from the command line, else from --file, else from --config or --model.",
            "Exit code 1: some rank does not fit its device, or the model is of a class that is not known."
        })
public final class EstimateCommand implements Callable<Integer> {
    private final CliEnvironment environment;

    @Option(names = "--model", paramLabel = "NAME", description = "A model known by name, as in llama3.1-8b.")
    private @Nullable String model;

    @Option(names = "--config", paramLabel = "FILE", description = "A model's config.json from Hugging Face.")
    private @Nullable Path config;

    @Option(
            names = "--file",
            paramLabel = "FILE",
            description = "JSON object with any of the fields below, and model or config.")
    private @Nullable Path file;

    @Option(
            names = "--device",
            paramLabel = "SIZE",
            split = ",",
            description = "Capacity of a device, as in 80GiB; several are used in turn.")
    private List<String> devices = List.of();

    @Option(
            names = "--limit",
            paramLabel = "SIZE",
            description = "What a rank may use of its device; unless given, the capacity less --reserve.")
    private @Nullable String limit;

    @Option(
            names = "--reserve",
            paramLabel = "SHARE",
            description = "Of a device, promised to no rank: 20%% unless given.")
    private String reserve = "20%";

    @Option(names = "--ranks-per-node", paramLabel = "N", description = "For host memory: 8 unless given.")
    private int ranksPerNode = 8;

    @Option(names = "--svg", paramLabel = "FILE", description = "Draw a picture: bars of ranks against their limits.")
    private @Nullable Path svg;

    @Option(names = "--csv", description = "A line for each rank, amounts in bytes.")
    private boolean csv;

    @Option(names = "--json", description = "The answer as JSON, amounts in bytes.")
    private boolean json;

    @Option(
            names = "--formula",
            paramLabel = "NAME",
            description = "What another calculator says: deepspeed, megatron, korthikanti or eleuther.")
    private @Nullable String formula;

    @Option(names = "--largest-layer", paramLabel = "N", description = "For deepspeed: parameters of it.")
    private @Nullable String largestLayer;

    @Option(names = "--nodes", paramLabel = "N", description = "For deepspeed: nodes; 1 unless given.")
    private @Nullable String nodes;

    @Option(
            names = "--accuracy",
            paramLabel = "FILE",
            arity = "1..*",
            split = ",",
            description = "Compare estimates with measurements: published peaks, Megatron's tests and logs,"
                    + " PEFT's runs, ranks in phases.")
    private List<Path> accuracy = List.of();

    @Option(names = "--rows", description = "With --accuracy: every row, not only the worst.")
    private boolean rows;

    @Spec
    private @Nullable CommandSpec spec;

    private EstimateCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    /** With an option for each field of an estimate. */
    public static CommandLine commandLine(CliEnvironment environment) {
        CommandLine command = new CommandLine(new EstimateCommand(environment));
        for (Field field : EstimateFields.all()) {
            command.getCommandSpec()
                    .addOption(OptionSpec.builder("--" + field.name())
                            .type(String.class)
                            .paramLabel("VALUE")
                            .description(field.help().replace("%", "%%"))
                            .build());
        }
        return command;
    }

    @Override
    public Integer call() throws CommandFailure {
        if (!accuracy.isEmpty()) {
            AccuracyReport report = new AccuracyReport(MeasurementFiles.read(accuracy));
            return print(json ? report.json() + "\n" : report.text(rows), ExitCode.OK);
        }
        if (formula != null) {
            Map<String, String> extra = new TreeMap<>();
            Optional.ofNullable(largestLayer).ifPresent(value -> extra.put("largest-layer", value));
            Optional.ofNullable(nodes).ifPresent(value -> extra.put("nodes", value));
            extra.put("gpus-per-node", String.valueOf(ranksPerNode));
            return print(FormulaAnswer.of(formula, fields(), extra, json), ExitCode.OK);
        }
        EstimateAnswer answer = answer();
        if (svg != null) {
            write(svg, EstimatePicture.svg(answer));
        }
        String text =
                json ? EstimateData.json(answer) + "\n" : csv ? EstimateData.csv(answer) : EstimateText.of(answer);
        return print(text, answer.fits() ? ExitCode.OK : ExitCode.FAILED);
    }

    private int print(String text, ExitCode exitCode) {
        environment.out().print(text);
        environment.out().flush();
        return exitCode.code();
    }

    private EstimateAnswer answer() throws CommandFailure {
        SetupReader.Result result = SetupReader.read(fields());
        List<Problem> problems = new ArrayList<>(result.problems());
        List<MemoryBytes> capacities = new ArrayList<>();
        devices.forEach(device -> size("device", device, problems).ifPresent(capacities::add));
        Optional<MemoryBytes> stated = Optional.ofNullable(limit).flatMap(text -> size("limit", text, problems));
        Share kept = reserve(problems);
        if (ranksPerNode < 1) {
            problems.add(new Problem("ranks-per-node", String.valueOf(ranksPerNode), "1 or more"));
        }
        if (stated.isPresent() && capacities.isEmpty()) {
            capacities.add(stated.get());
        }
        capacities.stream()
                .filter(capacity -> stated.isPresent() && stated.get().isMoreThan(capacity))
                .findFirst()
                .ifPresent(capacity -> problems.add(
                        new Problem("limit", String.valueOf(limit), "at most the device's capacity, " + capacity)));
        if (!problems.isEmpty() || result.reading().isEmpty()) {
            throw refused(problems);
        }
        List<MemoryBytes> limits = capacities.stream()
                .map(capacity -> stated.orElse(capacity.times(kept.complement())))
                .toList();
        return EstimateAnswer.of(result.reading().get(), capacities, limits, ranksPerNode);
    }

    private Share reserve(List<Problem> problems) {
        try {
            return Shares.parse(reserve);
        } catch (IllegalArgumentException e) {
            problems.add(new Problem("reserve", reserve, String.valueOf(e.getMessage())));
            return Share.NONE;
        }
    }

    private static Optional<MemoryBytes> size(String field, String text, List<Problem> problems) {
        try {
            MemoryBytes size = MemorySizes.parse(text);
            if (!size.isZero()) {
                return Optional.of(size);
            }
            problems.add(new Problem(field, text, "more than nothing"));
        } catch (IllegalArgumentException e) {
            problems.add(new Problem(field, text, String.valueOf(e.getMessage())));
        }
        return Optional.empty();
    }

    static CommandFailure refused(List<Problem> problems) {
        return new CommandFailure(
                ExitCode.BAD_SETTINGS,
                String.join(
                        "\nullage: ", problems.stream().map(Problem::toString).toList()));
    }

    /** Nearer sources go before farther ones. */
    private Map<String, String> fields() throws CommandFailure {
        Map<String, String> fields = new TreeMap<>();
        if (model != null) {
            fields.putAll(FieldsFile.known(model));
        }
        if (config != null) {
            fields.putAll(HuggingFaceConfig.read(config));
        }
        if (file != null) {
            fields.putAll(FieldsFile.read(file));
        }
        for (Field field : EstimateFields.all()) {
            option("--" + field.name()).ifPresent(value -> fields.put(field.name(), value));
        }
        if (fields.isEmpty()) {
            throw new ParameterException(
                    command(), "nothing to estimate: --model, --config, --file, fields or --accuracy is missing");
        }
        return fields;
    }

    private CommandLine command() {
        if (spec == null) {
            throw new IllegalStateException("not called by picocli");
        }
        return spec.commandLine();
    }

    private Optional<String> option(String name) {
        return Optional.ofNullable(command().getParseResult().matchedOptionValue(name, (String) null));
    }

    private static void write(Path target, String text) throws CommandFailure {
        try {
            Files.writeString(target, text);
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.FAILED, "cannot write " + target + ": " + e, e);
        }
    }
}
