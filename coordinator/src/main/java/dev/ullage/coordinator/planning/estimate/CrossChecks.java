package dev.ullage.coordinator.planning.estimate;

/** Rules between fields that are each fine alone. */
final class CrossChecks {
    private CrossChecks() {}

    static void check(Fields fields, ModelShape model, Layout layout, Scheme scheme, int sequence) {
        int tensor = layout.tensor();
        divides(fields, "tp", tensor, "heads", model.heads());
        divides(fields, "tp", tensor, "ffn", model.ffn());
        if (model.kvHeads() % tensor != 0 && tensor % model.kvHeads() != 0) {
            fields.problem("tp", "a divisor or a multiple of kv-heads = " + model.kvHeads());
        }
        divides(fields, "cp", layout.context(), "sequence", sequence);
        model.experts().ifPresent(experts -> {
            divides(fields, "ep", layout.expert(), "experts", experts.count());
            divides(fields, "etp", layout.expertTensor(), "expert-ffn", experts.ffn());
        });
        if (model.experts().isEmpty() && layout.expert() > 1) {
            fields.problem("ep", "1 for a model without experts");
        }
        long perStage = (long) tensor * layout.context() * layout.data();
        long expertRanks = (long) layout.expert() * layout.expertTensor();
        if (model.experts().isPresent() && perStage % expertRanks != 0) {
            fields.problem("ep", "ep x etp = " + expertRanks + " divides tp x cp x dp = " + perStage);
        }
        if (fields.has("world-size")
                && fields.number("world-size", 1, 1 << 20, layout.worldSize()) != layout.worldSize()) {
            fields.problem("world-size", "tp x pp x cp x dp = " + layout.worldSize());
        }
        if (layout.virtualStages() > 1 && layout.pipeline() == 1) {
            fields.problem("virtual-stages", "1 without a pipeline (pp = 1)");
        }
        if (scheme.optimizerInstances() > layout.data() * layout.context()) {
            fields.problem("optimizer-instances", "at most dp x cp = " + layout.data() * layout.context());
        }
    }

    private static void divides(Fields fields, String field, long divisor, String whole, long value) {
        if (value % divisor != 0) {
            fields.problem(field, "a divisor of " + whole + " = " + value);
        }
    }
}
