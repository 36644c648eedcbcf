package dev.ullage.cli.predict;

import dev.ullage.cli.CliEnvironment;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.cli.show.PredictTable;
import dev.ullage.coordinator.planning.predict.Newborn;
import dev.ullage.coordinator.planning.predict.PredictorCatalog;
import dev.ullage.coordinator.planning.predict.PredictorUnavailableException;
import dev.ullage.coordinator.planning.predict.Priced;
import dev.ullage.coordinator.prediction.InstalledPredictors;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
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
            "Predictors: " + PredictorCatalog.FORMS + "; held: held-STEPS for each horizon; newborn: by what the tuned"
                    + " series reached in their first steps; with a jar of its own, lstm and lstm-unguarded."
        })
public final class PredictCommand implements Callable<Integer> {
    private static final int DEFAULT_WARM_UP = 120;
    private static final int MAX_HORIZON = 1_000;
    private static final int MAX_WARM_UP = 100_000;
    private static final String HELD = "held";
    private static final String NEWBORN = "newborn";

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
            description = "First steps of each series that do not count: 120, with --first 1.")
    private @Nullable Integer warmUp;

    @Option(
            names = "--first",
            paramLabel = "STEPS",
            description = "Only so many steps of each series count after these: for newborn series.")
    private @Nullable Integer first;

    @Option(names = "--born", description = "Only series that began within their recording count.")
    private boolean isBornOnly;

    @Option(names = "--json", description = "The figures as JSON, not rounded, also those of all series together.")
    private boolean json;

    @Spec
    private @Nullable CommandSpec spec;

    public PredictCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws CommandFailure {
        Contest.Terms terms =
                new Contest.Terms(warmUp(), first == null ? OptionalInt.empty() : OptionalInt.of(first), isBornOnly);
        Map<String, Contest.Maker> makers = check();
        List<Series> series = new ArrayList<>();
        for (Path file : files) {
            series.addAll(SeriesFile.read(file));
        }
        if (series.stream().noneMatch(terms::counts)) {
            throw new CommandFailure(
                    ExitCode.FAILED,
                    "none of the %d series%s has more than the %d values of the warm-up (--warm-up)"
                            .formatted(series.size(), isBornOnly ? " that are to count (--born)" : "", warmUp()));
        }
        Contest contest = new Contest(series, terms);
        int done = 0;
        for (int horizon : horizons) {
            for (String predictor : predictors) {
                String name = at(predictor, horizon);
                progress(name, done++);
                contest.add(name, horizon, Objects.requireNonNull(makers.get(name)));
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

    private int warmUp() {
        if (warmUp != null) {
            return warmUp;
        }
        return first == null ? DEFAULT_WARM_UP : 1;
    }

    /** The rule for limits that are held is made for as long as they are. */
    private static String at(String predictor, int horizon) {
        return predictor.equals(HELD) ? HELD + "-" + horizon : predictor;
    }

    private static Contest.Maker maker(String name) throws PredictorUnavailableException {
        if (name.equals(NEWBORN)) {
            return (one, others) -> others.map(reached -> new Newborn(reached, new Priced(Priced.Settings.DEFAULTS)));
        }
        InstalledPredictors.Maker maker = InstalledPredictors.find(name);
        return (one, others) -> maker.make(one.period());
    }

    /** Finds the predictors; says all that is wrong with the command line at once. */
    private Map<String, Contest.Maker> check() throws CommandFailure {
        Map<String, Contest.Maker> makers = new TreeMap<>();
        List<String> missing = new ArrayList<>();
        List<String> wrong = new ArrayList<>();
        Set<String> names = new LinkedHashSet<>();
        for (String predictor : predictors) {
            horizons.stream()
                    .filter(horizon -> horizon >= 1 && horizon <= MAX_HORIZON)
                    .forEach(horizon -> names.add(at(predictor, horizon)));
            names.addAll(predictor.equals(HELD) ? List.of() : List.of(predictor));
        }
        for (String predictor : names) {
            try {
                makers.put(predictor, maker(predictor));
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
        if (warmUp() < 1 || warmUp() > MAX_WARM_UP) {
            wrong.add("--warm-up: %d must be 1 to %d".formatted(warmUp(), MAX_WARM_UP));
        }
        if (first != null && (first < 1 || first > MAX_WARM_UP)) {
            wrong.add("--first: %d must be 1 to %d".formatted(first, MAX_WARM_UP));
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
