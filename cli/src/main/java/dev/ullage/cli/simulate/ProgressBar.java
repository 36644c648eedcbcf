package dev.ullage.cli.simulate;

import dev.ullage.cli.show.Terminal;
import java.io.PrintWriter;

/**
 * How far long work has come, on standard error: drawn in place on a terminal, within its width, elsewhere a line at
 * each tenth.
 */
final class ProgressBar {
    private static final int WIDTH = 40;
    private static final int LEAST = 5;
    private static final int PIECE = 34;

    private final PrintWriter err;
    private final Terminal terminal;
    private final String what;
    private final int all;
    private int done;
    private int drawn;

    ProgressBar(PrintWriter err, Terminal terminal, String what, int all) {
        this.err = err;
        this.terminal = terminal;
        this.what = what;
        this.all = all;
    }

    /** One more piece is done; from any thread. */
    synchronized void step(String piece) {
        done++;
        if (terminal.isInteractive()) {
            draw(done == all ? "" : line(piece));
            if (done == all) {
                err.print("\r");
            }
            err.flush();
        } else if (10L * done / all > 10L * (done - 1) / all) {
            err.println("%d of %d %s (%d %%)".formatted(done, all, what, 100L * done / all));
        }
    }

    /** Over what was drawn before. */
    private void draw(String line) {
        err.print("\r" + line + " ".repeat(Math.max(0, drawn - line.length())));
        drawn = line.length();
    }

    /** The last column stays free: some terminals go to the next line after it. */
    private String line(String piece) {
        int columns = terminal.width() - 1;
        String counts = "%d of %d %s".formatted(done, all, what);
        int width = Math.min(WIDTH, columns - counts.length() - "[] ".length());
        int filled = (int) ((long) width * done / all);
        String bar = width < LEAST ? "" : "[" + "#".repeat(filled) + ".".repeat(width - filled) + "] ";
        String text = bar + counts;
        int left = Math.min(PIECE, columns - text.length() - 2);
        return cut(left < LEAST ? text : text + "  " + cut(piece, left), columns);
    }

    private static String cut(String text, int columns) {
        return text.length() <= columns ? text : text.substring(0, columns);
    }
}
