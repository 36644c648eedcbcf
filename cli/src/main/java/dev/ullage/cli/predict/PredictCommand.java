package dev.ullage.cli.predict;

import dev.ullage.cli.CliEnvironment;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.cli.show.PredictTable;
import dev.ullage.coordinator.planning.predict.PredictorCatalog;
import dev.ullage.coordinator.planning.predict.PredictorUnavailableException;
import dev.ullage.coordinator.prediction.InstalledPredictors;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code ullage predict}: looks at recorded series, and changes nothing. */
@Command(
        name = "predict",
        description = "Shows how good predictors of memory use would have been on recorded series.",
        footer = {
            "",
            "A file is CSV (also gzipped): samples of pods (timestamp_anon,value,container_ip), or the allocations of"
                    + " one training step (t_us,allocated_bytes), which is repeated.",
            "UNDER: steps that used more than their limit. ROOM: mean of limit/use - 1 over the steps that used 1 GiB or"
                    + " more; OF SUMS: sum of limits/sum of use - 1. P99 SHORT: what 99 %% of the steps did not miss more"
                    + " than. RMSE, MAE, ACCURACY (1 - mean of error/use): of the forecasts. Sizes in GiB.",
            "Every other series in the order of names is 'tuned': parameters may be chosen by it; 'checked' are the"
                    + " others.",
            "Predictors: " + PredictorCatalog.FORMS + "; with a jar of its own, lstm and lstm-unguarded."
        })
public final class PredictCommand implements Callable<Integer> {
    private static final int MAX_HORIZON = 1_000;
    private static final int MAX_WARM_UP = 100_000;

    private final CliEnvironment environment;

    @Option(names = "--series", paramLabel = "FILE", required = true, description = "Recorded series; may be repeated.")
    private List<Path> files = List.of();

    @Option(
            names = "--predictor",
            paramLabel = "NAME",
            split = ",",
            description = "Which to try; may be repeated. Without it: the usual ones.")
    private List<String> predictors = PredictorCatalog.USUAL;

    @Option(
            names = "--horizon",
            paramLabel = "STEPS",
            split = ",",
            description = "Steps that a limit is held for; may be repeated. Without it: 1.")
    private List<Integer> horizons = List.of(1);

    @Option(
            names = "--warm-up",
            paramLabel = "STEPS",
            defaultValue = "120",
            description = "First steps of each series that do not count: ${DEFAULT-VALUE}.")
    private int warmUp;

    @Option(names = "--json", description = "The figures as JSON, not rounded, also those of all series together.")
    private boolean json;

    @Spec
    private @Nullable CommandSpec spec;

    public PredictCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws CommandFailure {
        Map<String, InstalledPredictors.Maker> makers = check();
        List<Series> series = new ArrayList<>();
        for (Path file : files) {
            series.addAll(SeriesFile.read(file));
        }
        if (series.stream().noneMatch(one -> one.values().size() > warmUp)) {
            throw new CommandFailure(
                    ExitCode.FAILED,
                    "none of the %d series has more than the %d values of the warm-up (--warm-up)"
                            .formatted(series.size(), warmUp));
        }
        Contest contest = new Contest(series, warmUp);
        int done = 0;
        for (int horizon : horizons) {
            for (String predictor : predictors) {
                progress(predictor, done++);
                contest.add(predictor, horizon, Objects.requireNonNull(makers.get(predictor)));
            }
        }
        progress("", done);
        environment
                .out()
                .print(
                        json
                                ? contest.document() + "\n"
                                : PredictTable.render(contest.document(), environment.terminal()));
        environment.out().flush();
        return ExitCode.OK.code();
    }

    /** Finds the predictors; says all that is wrong with the command line at once. */
    private Map<String, InstalledPredictors.Maker> check() throws CommandFailure {
        Map<String, InstalledPredictors.Maker> makers = new TreeMap<>();
        List<String> missing = new ArrayList<>();
        List<String> wrong = new ArrayList<>();
        for (String predictor : predictors) {
            try {
                makers.put(predictor, InstalledPredictors.find(predictor));
            } catch (IllegalArgumentException e) {
                wrong.add("--predictor: " + e.getMessage());
            } catch (PredictorUnavailableException e) {
                missing.add(e.getMessage());
            }
        }
        for (int horizon : horizons) {
            if (horizon < 1 || horizon > MAX_HORIZON) {
                wrong.add("--horizon: %d must be 1 to %d".formatted(horizon, MAX_HORIZON));
            }
        }
        if (warmUp < 1 || warmUp > MAX_WARM_UP) {
            wrong.add("--warm-up: %d must be 1 to %d".formatted(warmUp, MAX_WARM_UP));
        }
        if (!wrong.isEmpty() && spec != null) {
            throw new ParameterException(spec.commandLine(), String.join("\n", wrong));
        }
        if (!missing.isEmpty()) {
            throw new CommandFailure(ExitCode.FAILED, String.join("\n", missing));
        }
        return makers;
    }

    /** For a person only: the line is drawn over and gone at the end. */
    private void progress(String predictor, int done) {
        if (!environment.terminal().isInteractive()) {
            return;
        }
        int all = predictors.size() * horizons.size();
        int width = 30;
        String bar = "#".repeat(width * done / all) + ".".repeat(width - width * done / all);
        PrintWriter err = environment.err();
        err.print(
                done == all ? "\r" + " ".repeat(70) + "\r" : "\r[%s] %d/%d %-20s".formatted(bar, done, all, predictor));
        err.flush();
    }
}
