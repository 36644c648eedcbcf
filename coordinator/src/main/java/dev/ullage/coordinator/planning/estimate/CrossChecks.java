package dev.ullage.coordinator.planning.estimate;

/** Rules between fields that are each fine alone. */
final class CrossChecks {
    private CrossChecks() {}

    static void check(Fields fields, ModelShape model, Layout layout, Scheme scheme, int sequence) {
        int tensor = layout.tensor();
        boolean splitsHeads = model.kvHeads() % tensor == 0 || tensor % model.kvHeads() == 0;
        divides(fields, "tp", tensor, "heads", model.heads());
        rule(
                fields,
                splitsHeads,
                "tp",
                "a divisor or a multiple of kv-heads = " + model.kvHeads(),
                "heads",
                "kv-heads");
        divides(fields, "tp", tensor, "ffn", model.ffn());
        divides(fields, "cp", layout.context(), "sequence", sequence);
        model.experts().ifPresent(experts -> {
            divides(fields, "ep", layout.expert(), "experts", experts.count());
            divides(fields, "etp", layout.expertTensor(), "expert-ffn", experts.ffn());
        });
        boolean routed = model.experts().isPresent();
        rule(fields, routed || layout.expert() == 1, "ep", "1 for a model without experts", "experts");
        long perStage = (long) layout.tensor() * layout.context() * layout.data();
        long expertRanks = (long) layout.expert() * layout.expertTensor();
        rule(
                fields,
                !routed || perStage % expertRanks == 0,
                "ep",
                "ep x etp = " + expertRanks + " divides tp x cp x dp = " + perStage,
                "etp",
                "tp",
                "cp",
                "dp");
        world(fields, layout);
        rule(
                fields,
                layout.virtualStages() == 1 || layout.pipeline() > 1,
                "virtual-stages",
                "1 without a pipeline (pp = 1)",
                "pp");
        int sharers = layout.data() * layout.context();
        rule(
                fields,
                scheme.optimizerInstances() <= sharers,
                "optimizer-instances",
                "at most dp x cp = " + sharers,
                "dp",
                "cp");
    }

    private static void world(Fields fields, Layout layout) {
        if (fields.areUsable("tp", "pp", "cp", "dp")) {
            long stated = fields.number("world-size", 1, 1 << 20, layout.worldSize());
            rule(fields, stated == layout.worldSize(), "world-size", "tp x pp x cp x dp = " + layout.worldSize());
        }
    }

    private static void divides(Fields fields, String field, long divisor, String whole, long value) {
        rule(fields, value % divisor == 0, field, "a divisor of " + whole + " = " + value, whole);
    }

    /** Notes a broken rule unless a field that it is about is wrong by itself. */
    private static void rule(Fields fields, boolean holds, String field, String rule, String... others) {
        if (!holds && fields.areUsable(others) && fields.areUsable(field)) {
            fields.problem(field, rule);
        }
    }
}
