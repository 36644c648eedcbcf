package dev.ullage.coordinator.planning.estimate;

import dev.ullage.coordinator.planning.estimate.Kernels.Architecture;
import dev.ullage.coordinator.planning.estimate.Kernels.Attention;
import dev.ullage.coordinator.planning.estimate.Kernels.Loss;
import dev.ullage.coordinator.planning.estimate.Kernels.Recompute;
import dev.ullage.coordinator.planning.estimate.Setup.Framework;
import dev.ullage.coordinator.planning.estimate.Setup.Measure;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads a setup from named values: all problems at once, and what was taken where a field is missing. */
public final class SetupReader {
    /** The longest sequence and the largest batch that anyone has trained with, many times over. */
    private static final int MOST_TOKENS = 1 << 26;

    private static final int MOST_SAMPLES = 1 << 20;
    private static final int USUAL_SEQUENCE = 2048;

    private final Fields fields;
    private final List<String> assumptions = new ArrayList<>();

    private SetupReader(Map<String, String> values) {
        fields = new Fields(values);
        values.keySet().stream()
                .sorted()
                .filter(name -> !EstimateFields.isKnown(name))
                .forEach(name -> fields.problem(name, "no such field; \"ullage estimate --help\" lists them"));
    }

    /**
     * @param reading empty when there are problems
     * @param problems in the order they were found
     */
    public record Result(Optional<Reading> reading, List<Problem> problems) {}

    /** @param values by the names of {@link EstimateFields} */
    public static Result read(Map<String, String> values) {
        return new SetupReader(values).result();
    }

    private Result result() {
        Framework framework = framework();
        Layout sizes = LayoutReader.sizes(fields, framework);
        ModelShape model = ModelReader.read(fields, framework);
        Layout layout = LayoutReader.withChunks(fields, sizes, model);
        Scheme scheme = SchemeReader.read(fields, model);
        int sequence = fields.count("sequence", 1, MOST_TOKENS, USUAL_SEQUENCE);
        int microBatch = fields.count("micro-batch", 1, MOST_SAMPLES, 1);
        assume("sequence", "2048 tokens");
        assume("micro-batch", "1");
        int microBatches = microBatches(layout, microBatch);
        Kernels kernels = kernels();
        Measure measure = fields.choice("measure", Measure.class).orElse(Measure.DEVICE);
        CrossChecks.check(fields, model, layout, scheme, sequence);
        if (!fields.problems().isEmpty()) {
            return new Result(Optional.empty(), fields.problems());
        }
        Setup likely =
                new Setup(model, sequence, microBatch, microBatches, layout, scheme, kernels, framework, measure);
        checkParameters(likely);
        if (!fields.problems().isEmpty()) {
            return new Result(Optional.empty(), fields.problems());
        }
        return new Result(Optional.of(new Reading(likely, alternatives(likely), assumptions)), List.of());
    }

    private Framework framework() {
        Optional<Framework> given = fields.choice("framework", Framework.class);
        if (given.isPresent()) {
            return given.get();
        }
        boolean split = fields.number("tp", 1, 1 << 20, 1) > 1 || fields.number("pp", 1, 1 << 20, 1) > 1;
        long sharding = fields.number("sharding", 0, 3, 0);
        Framework usual = split ? Framework.MEGATRON : sharding == 3 ? Framework.FSDP : Framework.DEEPSPEED;
        assumptions.add("framework is not given: " + Fields.nameOf(usual) + " is taken");
        return usual;
    }

    private int microBatches(Layout layout, int microBatch) {
        long least = (long) microBatch * layout.data();
        Optional<Long> global = fields.has("global-batch")
                ? Optional.of(fields.number("global-batch", 1, 1L << 40, least))
                : Optional.empty();
        if (global.isEmpty()) {
            return layout.pipeline() > 1 ? 4 * layout.pipeline() : 1;
        }
        if (global.get() % least != 0) {
            fields.problem("global-batch", "a multiple of micro-batch x dp = " + least);
            return 1;
        }
        return (int) Math.min(Integer.MAX_VALUE, global.get() / least);
    }

    private Kernels kernels() {
        assume("attention", "flash");
        assume("recompute", "none");
        return new Kernels(
                fields.choice("attention", Attention.class).orElse(Attention.FLASH),
                fields.choice("recompute", Recompute.class).orElse(Recompute.NONE),
                fields.flag("hidden-dropout", false),
                fields.flag("attention-dropout", false),
                fields.choice("loss", Loss.class).orElse(Loss.USUAL),
                fields.flag("local-layers", false),
                fields.flag("grouped-experts", false),
                fields.flag("fused-permutation", false),
                fields.flag("deferred-head-gradient", false),
                fields.flag("activation-offload", false),
                fields.flag("deterministic", false),
                fields.flag("compile", false),
                fields.flag("async-tensor", false),
                fields.choice("architecture", Architecture.class).orElse(Architecture.SM90));
    }

    private void assume(String field, String value) {
        if (!fields.has(field)) {
            assumptions.add(field + " is not given: " + value + " is taken");
        }
    }

    private void checkParameters(Setup setup) {
        if (!fields.has("parameters")) {
            return;
        }
        long stated = fields.number("parameters", 1, 1L << 49, 1);
        double sum = StageParameters.total(setup);
        if (Math.abs(sum / stated - 1) > 0.05) {
            fields.problem("parameters", "within 5 % of what the shape comes to, " + Math.round(sum));
        }
    }

    /** What else the setup may be: every missing field at its other values, one at a time and all at their largest. */
    private List<Setup> alternatives(Setup likely) {
        List<Setup> others = new ArrayList<>(List.of(likely));
        if (!fields.has("micro-batch")) {
            others = with(others, setup -> List.of(setup, setup.withMicroBatch(4)));
        }
        if (!fields.has("sequence")) {
            others = with(others, setup -> List.of(setup, setup.withSequence(2 * USUAL_SEQUENCE)));
        }
        if (!fields.has("attention")) {
            others = with(
                    others, setup -> List.of(setup, setup.with(setup.kernels().with(Attention.UNFUSED))));
        }
        if (!fields.has("recompute")) {
            others = with(
                    others, setup -> List.of(setup, setup.with(setup.kernels().with(Recompute.FULL))));
        }
        others.remove(likely);
        return others;
    }

    private interface Choices {
        List<Setup> of(Setup setup);
    }

    private static List<Setup> with(List<Setup> setups, Choices choices) {
        List<Setup> all = new ArrayList<>();
        setups.forEach(setup -> all.addAll(choices.of(setup)));
        return all;
    }
}
