package dev.ullage.common.simulation;

import java.util.List;
import java.util.SplittableRandom;

/** The only source of chance in a simulation. Not thread safe. */
public final class Dice {
    private static final int PER_MILLE = 1000;

    private final SplittableRandom random;

    public Dice(long seed) {
        this(new SplittableRandom(seed));
    }

    private Dice(SplittableRandom random) {
        this.random = random;
    }

    /** Independent dice: how often one of the two is thrown does not change what the other shows. */
    public Dice split() {
        return new Dice(random.split());
    }

    /** 0 to {@code bound - 1}. */
    public int below(int bound) {
        return random.nextInt(bound);
    }

    /** {@code low} to {@code high}, both included. */
    public long between(long low, long high) {
        return low + random.nextLong(high - low + 1);
    }

    public boolean chance(int perMille) {
        return perMille > 0 && random.nextInt(PER_MILLE) < perMille;
    }

    public <T> T pick(List<T> values) {
        return values.get(random.nextInt(values.size()));
    }
}
