package dev.ullage.cli.modelcheck;

import dev.ullage.cli.modelcheck.ModelCheck.Result;
import dev.ullage.cli.modelcheck.SmallWorld.Bounds;

/** The model check with four plans and foreign memory that comes and goes: 2.7 million states, some minutes. */
public final class ModelCheckMain {
    private ModelCheckMain() {}

    public static void main(String[] args) {
        Result result = ModelCheck.run(new Bounds(0, 1, 1, 2, false));
        System.out.printf(
                "%d states, %d steps, %d at rest, %d stuck, broken: %s%n",
                result.states(),
                result.steps(),
                result.atRest(),
                result.stuck().size(),
                result.broken().orElse("none"));
        System.exit(result.broken().isEmpty() && result.stuck().isEmpty() ? 0 : 1);
    }
}
