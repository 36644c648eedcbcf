package dev.ullage.cli.simulate;

import java.io.PrintWriter;

/** How far long work has come, on standard error: drawn in place on a terminal, elsewhere a line at each tenth. */
final class ProgressBar {
    private static final int WIDTH = 40;

    private final PrintWriter err;
    private final boolean isTerminal;
    private final String what;
    private final int all;
    private int done;

    ProgressBar(PrintWriter err, boolean isTerminal, String what, int all) {
        this.err = err;
        this.isTerminal = isTerminal;
        this.what = what;
        this.all = all;
    }

    /** One more piece is done; from any thread. */
    synchronized void step(String piece) {
        done++;
        if (isTerminal) {
            int filled = WIDTH * done / all;
            err.print("\r[" + "#".repeat(filled) + ".".repeat(WIDTH - filled)
                    + "] %d of %d %s  %-32s".formatted(done, all, what, piece));
            err.print(done == all ? "\r" + " ".repeat(WIDTH + 64) + "\r" : "");
            err.flush();
        } else if (10 * done / all > 10 * (done - 1) / all) {
            err.println("%d of %d %s (%d %%)".formatted(done, all, what, 100 * done / all));
        }
    }
}
