package dev.ullage.cli.top;

import dev.ullage.cli.show.TopScreen.View;
import dev.ullage.cli.show.TopSort;
import java.io.IOException;
import org.jline.utils.NonBlockingReader;

/** What the keys of {@code ullage top} do: letters sort, arrows and page keys scroll. Pure. */
final class TopKey {
    static final int UP = 0x110000;
    static final int DOWN = 0x110001;
    static final int PAGE_UP = 0x110002;
    static final int PAGE_DOWN = 0x110003;
    static final int HOME = 0x110004;
    static final int END = 0x110005;

    private static final int ESCAPE = 27;
    private static final int ENTER_OF_APPLICATION_MODE = 'O';

    private TopKey() {}

    /** One character after another, {@link NonBlockingReader#READ_EXPIRED} when none came in time. */
    @FunctionalInterface
    interface Characters {
        int next() throws IOException;
    }

    /** A key that a terminal sends as several characters, as one number above all characters. */
    static int read(int first, Characters rest) throws IOException {
        if (first != ESCAPE) {
            return first;
        }
        int second = rest.next();
        if (second != '[' && second != ENTER_OF_APPLICATION_MODE) {
            return ESCAPE;
        }
        int third = rest.next();
        return switch (third) {
            case 'A' -> UP;
            case 'B' -> DOWN;
            case 'H' -> HOME;
            case 'F' -> END;
            case '1', '4', '5', '6' -> numbered(third, rest);
            default -> ESCAPE;
        };
    }

    private static int numbered(int number, Characters rest) throws IOException {
        if (rest.next() != '~') {
            return ESCAPE;
        }
        return switch (number) {
            case '1' -> HOME;
            case '4' -> END;
            case '5' -> PAGE_UP;
            default -> PAGE_DOWN;
        };
    }

    /**
     * @param page lines of a page
     * @param most lines that there are to pass over; what is passed is kept within it, for the cluster may shrink
     */
    static View apply(int key, View view, int page, int most) {
        View sorted = TopSort.ofKey(key).map(view::by).orElse(view);
        return switch (key) {
            case UP -> sorted.moved(-1, most);
            case DOWN -> sorted.moved(1, most);
            case PAGE_UP -> sorted.moved(-page, most);
            case PAGE_DOWN -> sorted.moved(page, most);
            case HOME -> sorted.moved(-most, most);
            case END -> sorted.moved(most, most);
            default -> sorted.moved(0, most);
        };
    }
}
