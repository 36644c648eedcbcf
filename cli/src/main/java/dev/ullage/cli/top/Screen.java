package dev.ullage.cli.top;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jline.terminal.Attributes;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.NonBlockingReader;

/** A terminal that is drawn over as a whole and read key by key; on closing it is as it was before. */
final class Screen implements AutoCloseable {
    /** No key came in time. */
    static final int NO_KEY = NonBlockingReader.READ_EXPIRED;

    /** A key's characters come together; a person who presses Escape sends one. */
    private static final long REST_OF_A_KEY_MILLIS = 50;

    private static final String ENTER = "\u001b[?1049h\u001b[?25l";
    private static final String LEAVE = "\u001b[?25h\u001b[?1049l";
    private static final String HOME = "\u001b[H";
    private static final String CLEAR_LINE = "\u001b[K";
    private static final String CLEAR_BELOW = "\u001b[J";

    private final Terminal terminal;
    private final Attributes before;
    private final AtomicBoolean isLeft = new AtomicBoolean();
    private final AtomicBoolean isInterrupted = new AtomicBoolean();
    private final AtomicBoolean isResized = new AtomicBoolean(true);
    private final Thread onExit = new Thread(this::leave, "leave-screen");

    private Size size = new Size(0, 0);

    private Screen(Terminal terminal) {
        this.terminal = terminal;
        this.before = terminal.enterRawMode();
        terminal.handle(Terminal.Signal.INT, signal -> isInterrupted.set(true));
        terminal.handle(Terminal.Signal.WINCH, signal -> isResized.set(true));
        Runtime.getRuntime().addShutdownHook(onExit);
        terminal.writer().print(ENTER);
        terminal.flush();
    }

    /** The process's own terminal; throws when it cannot be used. */
    static Screen open() throws IOException {
        return new Screen(TerminalBuilder.builder()
                .name("ullage")
                .system(true)
                .dumb(false)
                .build());
    }

    /** Its size; rows and columns are 0 when it does not say. It is asked only when it was resized: that is a child. */
    Size size() {
        if (isResized.getAndSet(false)) {
            size = terminal.getSize();
        }
        return size;
    }

    /** The next key, {@link #NO_KEY} when none comes in time, less when none ever will. */
    int key(long withinMillis) throws IOException {
        if (isInterrupted.get()) {
            return NonBlockingReader.EOF;
        }
        return TopKey.read(
                terminal.reader().read(withinMillis), () -> terminal.reader().read(REST_OF_A_KEY_MILLIS));
    }

    void draw(List<String> lines) {
        StringBuilder text = new StringBuilder(HOME);
        for (int i = 0; i < lines.size(); i++) {
            text.append(i == 0 ? "" : "\r\n").append(lines.get(i)).append(CLEAR_LINE);
        }
        terminal.writer().print(text.append(CLEAR_BELOW));
        terminal.flush();
    }

    private void leave() {
        if (isLeft.compareAndSet(false, true)) {
            terminal.writer().print(LEAVE);
            terminal.flush();
            terminal.setAttributes(before);
        }
    }

    @Override
    public void close() throws IOException {
        leave();
        terminal.close();
        try {
            Runtime.getRuntime().removeShutdownHook(onExit);
        } catch (IllegalStateException e) {
            // The process ends already, and has left.
        }
    }
}
