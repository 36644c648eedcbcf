package dev.ullage.common.simulation;

import java.util.Arrays;

/**
 * Brings messages from one endpoint to another: late, twice, out of order, or not at all. Endpoints are numbers. A cut
 * is one way; a partition is two of them. A message that is on its way when a link is cut still arrives.
 */
public final class Network {
    private final VirtualTime time;
    private final Dice dice;
    private final boolean[][] cut;
    private Weather weather;
    private long sent;

    /**
     * What may happen to a message.
     *
     * @param lossPerMille how many never arrive
     * @param duplicatePerMille how many arrive twice
     * @param slowPerMille how many take up to {@code slowMillis}, and are overtaken meanwhile
     */
    public record Weather(
            int lossPerMille, int duplicatePerMille, int slowPerMille, int minMillis, int maxMillis, int slowMillis) {
        public static final Weather FINE = new Weather(0, 0, 0, 1, 5, 0);
    }

    public Network(VirtualTime time, Dice dice, int endpoints, Weather weather) {
        this.time = time;
        this.dice = dice;
        this.cut = new boolean[endpoints][endpoints];
        this.weather = weather;
    }

    /** Returns how often it will arrive: 0 to 2. */
    public int send(int from, int to, Runnable delivery) {
        sent++;
        if (cut[from][to] || dice.chance(weather.lossPerMille())) {
            return 0;
        }
        time.after(delayMillis(), delivery);
        if (!dice.chance(weather.duplicatePerMille())) {
            return 1;
        }
        time.after(delayMillis(), delivery);
        return 2;
    }

    private long delayMillis() {
        int max = dice.chance(weather.slowPerMille()) ? weather.slowMillis() : weather.maxMillis();
        return dice.between(weather.minMillis(), Math.max(weather.minMillis(), max));
    }

    /** From now on nothing sent from the one reaches the other; the way back is another matter. */
    public void cut(int from, int to) {
        cut[from][to] = true;
    }

    public void heal(int from, int to) {
        cut[from][to] = false;
    }

    /** Every link works from now on, in this weather. */
    public void healAll(Weather from) {
        for (boolean[] row : cut) {
            Arrays.fill(row, false);
        }
        weather = from;
    }

    public long sent() {
        return sent;
    }
}
