package dev.ullage.coordinator.planning.balance;

import java.util.List;

/** What is left on a device for one more share, given the shares that are there. More shares never leave more. */
public sealed interface SharingRule {

    /** @return the largest share that still goes there, 0 to {@code capacity}; amounts in one unit */
    int left(int capacity, List<Integer> shares);

    /** Shares stand side by side: their sum is within the device. */
    record Beside() implements SharingRule {
        @Override
        public int left(int capacity, List<Integer> shares) {
            return Math.max(
                    0, capacity - shares.stream().mapToInt(Integer::intValue).sum());
        }
    }

    /**
     * Each share has a part that stays and a part that comes and goes, and only one job at a time has the second: the
     * sum of what stays, and the largest of what does not, are within the device. The safety condition of Salus (Yu and
     * Chowdhury, MLSys 2020).
     *
     * @param persistentMilli part of a share that stays, in thousandths, 1 to 1000
     */
    record InTurns(int persistentMilli) implements SharingRule {
        private static final int MILLI = 1000;

        public InTurns {
            if (persistentMilli < 1 || persistentMilli > MILLI) {
                throw new IllegalArgumentException(
                        "the part of a share that stays must be 1 to 1000 thousandths: " + persistentMilli);
            }
        }

        @Override
        public int left(int capacity, List<Integer> shares) {
            long persistent = 0;
            long passing = 0;
            for (int share : shares) {
                persistent += (long) share * persistentMilli;
                passing = Math.max(passing, (long) share * (MILLI - persistentMilli));
            }
            long whole = (long) capacity * MILLI;
            long besideThePassing = (whole - persistent - passing) / persistentMilli;
            long withItsOwn = (whole - persistent) / MILLI;
            return (int) Math.max(0, Math.min(besideThePassing, withItsOwn));
        }
    }
}
