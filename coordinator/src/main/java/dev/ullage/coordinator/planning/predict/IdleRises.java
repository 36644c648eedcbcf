package dev.ullage.coordinator.planning.predict;

/**
 * How often, and how far, an idle series rises: by how long it has been idle. It starts from what other series did, and
 * learns from its own.
 */
final class IdleRises {
    /** The last age of each class but the last class; a class has one prior. */
    private static final int[] LAST_AGE = {1, 2, 4, 9, 19, 39};

    private static final double[] PRIOR = {.033, .031, .028, .020, .008, .003, .0005};
    private static final double PRIOR_HEIGHT = .10;
    private static final double PRIOR_WEIGHT = 20;
    private static final double LARGEST = 1.0;

    private final int[] steps = new int[PRIOR.length];
    private final int[] rises = new int[PRIOR.length];
    private int heights;
    private double sumOfHeights;

    /** @param age steps without a change before this one, 1 or more */
    void observe(int age, long before, long now) {
        int of = ageClass(age);
        steps[of]++;
        if (now > before) {
            rises[of]++;
            heights++;
            sumOfHeights += before == 0 ? LARGEST : Math.min(LARGEST, (now - before) / (double) before);
        }
    }

    /** The chance that the next step is a rise. */
    double hazard(int age) {
        int of = ageClass(age);
        return (PRIOR_WEIGHT * PRIOR[of] + rises[of]) / (PRIOR_WEIGHT + steps[of]);
    }

    /** The mean height of a rise, as a part of the level. */
    double height() {
        return (PRIOR_WEIGHT * PRIOR_HEIGHT + sumOfHeights) / (PRIOR_WEIGHT + heights);
    }

    private static int ageClass(int age) {
        int of = 0;
        while (of < LAST_AGE.length && age > LAST_AGE[of]) {
            of++;
        }
        return of;
    }
}
