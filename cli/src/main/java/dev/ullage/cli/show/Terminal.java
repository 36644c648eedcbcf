package dev.ullage.cli.show;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;

/**
 * What text is written to.
 *
 * @param isInteractive a person looks at it: it may be drawn over
 * @param hasColours it may be coloured
 * @param width columns; {@link #UNLIMITED} for a file or a pipe
 */
public record Terminal(boolean isInteractive, boolean hasColours, int width) {
    public static final int UNLIMITED = Integer.MAX_VALUE;

    /** A file or a pipe. */
    public static final Terminal NONE = new Terminal(false, false, UNLIMITED);

    private static final Path STDOUT = Path.of("/proc/self/fd/1");
    private static final int USUAL_WIDTH = 80;
    private static final int MIN_WIDTH = 20;

    /** The process's own; {@code NO_COLOR} and {@code TERM=dumb} are respected. */
    public static Terminal ofProcess(Map<String, String> variables) {
        if (!isTerminal(STDOUT)) {
            return NONE;
        }
        return interactive(
                variables, number(variables.getOrDefault("COLUMNS", "")).orElseGet(Terminal::askedWidth));
    }

    /** {@code System.console()} also wants standard input, and from Java 22 on it says yes to anything. */
    static boolean isTerminal(Path descriptor) {
        try {
            String target = Files.readSymbolicLink(descriptor).toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }

    static Terminal interactive(Map<String, String> variables, int width) {
        boolean noColour = !variables.getOrDefault("NO_COLOR", "").isEmpty()
                || variables.getOrDefault("TERM", "dumb").equals("dumb");
        return new Terminal(true, !noColour, width);
    }

    /** Java cannot ask a terminal for its size; {@code stty} can. */
    private static int askedWidth() {
        try {
            Process stty = new ProcessBuilder("stty", "size")
                    .redirectInput(new File("/dev/tty"))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            if (!stty.waitFor(1, TimeUnit.SECONDS)) {
                stty.destroyForcibly();
                return USUAL_WIDTH;
            }
            String answer = new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
            return number(answer.substring(answer.indexOf(' ') + 1)).orElse(USUAL_WIDTH);
        } catch (IOException e) {
            return USUAL_WIDTH;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return USUAL_WIDTH;
        }
    }

    private static OptionalInt number(String text) {
        if (!text.matches("\\d{1,5}") || Integer.parseInt(text) < MIN_WIDTH) {
            return OptionalInt.empty();
        }
        return OptionalInt.of(Integer.parseInt(text));
    }
}
