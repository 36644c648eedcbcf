package dev.ullage.coordinator.planning.predict;

import dev.ullage.common.model.Share;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The predictors by name. A number in the name is a parameter: {@code rolling-max-60} looks at 60 steps. */
public final class PredictorCatalog {
    /** What a name may look like, for messages. */
    public static final String FORMS = "last, last/0.8, ewma-WEIGHT (ewma-0.5), rolling-max-STEPS, calm-max-STEPS,"
            + " rolling-qPERCENT-STEPS (rolling-q95-60), priced, priced-PRICE (priced-3.85), held-STEPS (held-15),"
            + " held-STEPS-PRICE (held-15-8) or periodic";

    /** What the table shows when nobody asks for something else. */
    public static final List<String> USUAL = List.of(
            "last",
            "last/0.8",
            "ewma-0.5",
            "ewma-0.3",
            "rolling-max-10",
            "rolling-max-60",
            "rolling-q95-60",
            "calm-max-20",
            "priced-0.62",
            "priced",
            "priced-4.3",
            "priced-7.7",
            "periodic");

    private static final Pattern NAME = Pattern.compile(
            "(ewma-|rolling-max-|calm-max-|rolling-q|priced-)(\\d{1,5}(?:\\.\\d{1,4})?)(?:-(\\d{1,5}))?");
    private static final Pattern HELD = Pattern.compile("held-(\\d{1,5})(?:-(\\d{1,5}(?:\\.\\d{1,4})?))?");
    private static final Share NO_ROOM = new Share(0);

    private PredictorCatalog() {}

    /**
     * @param period values of a training step, where the series has one
     * @return empty: that predictor needs a period and the series has none
     * @throws IllegalArgumentException no predictor has that name, or its number is out of range
     */
    public static Optional<Supplier<DemandPredictor>> find(String name, OptionalInt period) {
        return switch (name) {
            case "last" -> Optional.of(() -> new LastValue(NO_ROOM));
            case "last/0.8" -> Optional.of(() -> new LastValue(Share.ofPercent(25)));
            case "priced" -> Optional.of(() -> new Priced(Priced.Settings.DEFAULTS));
            case "periodic" ->
                period.isEmpty()
                        ? Optional.empty()
                        : Optional.of(
                                () -> new Periodic(new Periodic.Settings(period.getAsInt(), 2, Share.ofPercent(1))));
            default -> Optional.of(withNumber(name));
        };
    }

    private static Supplier<DemandPredictor> held(Matcher parts) {
        String price = parts.group(2);
        Held.Settings settings = new Held.Settings(
                Integer.parseInt(parts.group(1)),
                price == null ? Held.Settings.DEFAULT_PRICE : Double.parseDouble(price));
        return () -> new Held(settings);
    }

    private static Supplier<DemandPredictor> withNumber(String name) {
        Matcher held = HELD.matcher(name);
        if (held.matches()) {
            return held(held);
        }
        Matcher parts = NAME.matcher(name);
        if (!parts.matches() || (parts.group(3) != null) != parts.group(1).equals("rolling-q")) {
            throw new IllegalArgumentException("there is no predictor '%s': %s".formatted(name, FORMS));
        }
        double number = Double.parseDouble(parts.group(2));
        Supplier<DemandPredictor> supplier =
                switch (parts.group(1)) {
                    case "ewma-" -> () -> new MovingAverage(share(name, number));
                    case "priced-" -> () -> new Priced(Priced.Settings.DEFAULTS.withMissPrice(number));
                    case "rolling-q" ->
                        () -> new RollingQuantile(share(name, number / 100), Integer.parseInt(parts.group(3)));
                    case "calm-max-" ->
                        () -> new RollingMax(new RollingMax.Settings(steps(name, number), Share.ofPercent(5), true));
                    default -> () -> new RollingMax(new RollingMax.Settings(steps(name, number), NO_ROOM, false));
                };
        // A number out of range is found now, not at the first series.
        Objects.requireNonNull(supplier.get());
        return supplier;
    }

    private static int steps(String name, double number) {
        if (number != Math.rint(number)) {
            throw new IllegalArgumentException("'%s': steps must be a whole number".formatted(name));
        }
        return (int) number;
    }

    private static Share share(String name, double number) {
        if (!(number > 0 && number <= 1)) {
            throw new IllegalArgumentException(
                    "'%s': the weight must be more than 0 and at most 1, the quantile more than 0 and at most 100"
                            .formatted(name));
        }
        return new Share((int) Math.round(number * Share.ONE_IN_BASIS_POINTS));
    }
}
