package dev.ullage.worker.ranks;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.AlphaChars;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;

class LineBufferTest {
    private final LineBuffer buffer = new LineBuffer();

    private static List<String> drain(LineBuffer buffer) {
        List<String> lines = new ArrayList<>();
        for (byte[] line = buffer.next(); line != null; line = buffer.next()) {
            lines.add(new String(line, US_ASCII));
        }
        return lines;
    }

    private void add(String text) {
        buffer.add(ByteBuffer.wrap(text.getBytes(US_ASCII)));
    }

    @Property
    void theSameLinesComeOutHoweverTheBytesArrive(
            @ForAll @Size(max = 20) List<@AlphaChars @StringLength(max = 900) String> sent,
            @ForAll @Size(min = 1, max = 50) List<@IntRange(min = 1, max = 2000) Integer> chunks,
            @ForAll boolean drainsBetween) {
        LineBuffer target = new LineBuffer();
        byte[] bytes = (String.join("\n", sent) + "\nunfinished").getBytes(US_ASCII);
        List<String> heard = new ArrayList<>();
        int position = 0;
        for (int i = 0; position < bytes.length; i++) {
            int size = Math.min(chunks.get(i % chunks.size()), bytes.length - position);
            target.add(ByteBuffer.wrap(bytes, position, size));
            position += size;
            if (drainsBetween) {
                heard.addAll(drain(target));
            }
        }
        heard.addAll(drain(target));

        assertThat(heard)
                .isEqualTo(Arrays.asList((String.join("\n", sent) + "\n").split("\n", -1))
                        .subList(0, Math.max(1, sent.size())));
        assertThat(target.isTooLong()).isFalse();
    }

    @Test
    void anEmptyLineIsALine() {
        add("\n\na\n");

        assertThat(drain(buffer)).containsExactly("", "", "a");
    }

    @Test
    void aLineOfTheLargestSizePasses() {
        add("x".repeat(LineBuffer.MAX_LINE_BYTES));
        assertThat(buffer.next()).isNull();
        assertThat(buffer.isTooLong()).isFalse();

        add("\n");

        assertThat(buffer.next()).hasSize(LineBuffer.MAX_LINE_BYTES);
    }

    @Test
    void aLineThatIsOneByteTooLongIsRefusedBeforeItsEndHasCome() {
        add("a\n" + "x".repeat(LineBuffer.MAX_LINE_BYTES + 1));

        assertThat(drain(buffer)).containsExactly("a");
        assertThat(buffer.isTooLong()).isTrue();
    }

    @Test
    void aLineThatIsTooLongIsRefusedAlsoWhenItsEndCameWithIt() {
        add("x".repeat(LineBuffer.MAX_LINE_BYTES));
        assertThat(buffer.next()).isNull();

        add("x\nnext\n");

        assertThat(drain(buffer)).isEmpty();
        assertThat(buffer.isTooLong()).isTrue();
    }
}
