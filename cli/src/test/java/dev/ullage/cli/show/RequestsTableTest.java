package dev.ullage.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RequestsTableTest {
    private static final String SENTENCE =
            "3 devices with 60.0 GiB each; 0 have that now; of the others host-a device 0 (H100) has most, 14.0 GiB of"
                    + " 60.0 GiB";

    private final ObjectNode document = JsonNodeFactory.instance.objectNode();
    private final ArrayNode requests = document.putArray("requests");

    private void waits(int position, String job) {
        requests.addObject()
                .put("job", job)
                .put("state", "waiting")
                .put("priority", "medium")
                .put("wants", "3 ranks with 60.0 GiB each, on host-a")
                .put("position", position)
                .put("waitsFor", SENTENCE)
                .put("startsInMillis", 61_000)
                .put("waitedMillis", 5_000)
                .putArray("ranks");
    }

    private void isPlaced(String job) {
        requests.addObject()
                .put("job", job)
                .put("state", "placed")
                .put("priority", "medium")
                .put("wants", "1 rank with 1.0 GiB")
                .put("waitedMillis", 5_000)
                .putArray("ranks")
                .addObject()
                .put("node", "host-b");
    }

    private String shown(int width) {
        return RequestsTable.render(document, Terminal.interactive(Map.of(), width));
    }

    @Test
    void onANarrowTerminalWhatIsMissingIsSaidInFullBelow() {
        waits(1, "bert");
        isPlaced("gpt");

        assertThat(shown(80).lines()).allMatch(line -> TextWidth.of(line) <= 80 || line.contains("waits for"));
        assertThat(shown(80))
                .contains("IS ON", "host-b", "3 ranks with 60.0 G..", "1m 1s", "\nbert waits for " + SENTENCE + "\n");
        assertThat(shown(1_000)).contains("WAITS FOR, OR IS ON").doesNotContain("bert waits for");
    }

    @Test
    void ofTwoHundredOnlyTheFirstAreToldInFull() {
        for (int i = 1; i <= 200; i++) {
            waits(i, "job-" + i);
        }

        assertThat(shown(80).lines().filter(line -> line.contains(" waits for ")))
                .hasSize(5)
                .last()
                .asString()
                .startsWith("job-5 ");
        assertThat(shown(80).lines()).hasSize(200 + 1 + 5 + 2);
    }

    @Test
    void namesOfAnyScriptAndLengthKeepTheColumnsInPlace() {
        waits(1, "\u6a21\u578b-a");
        waits(2, "cafe\u0301-\ud83d\ude00");
        waits(3, "\ud83d\ude00".repeat(100));

        String table = shown(90);
        int column = table.indexOf("STATE");
        assertThat(table.lines().skip(1).limit(3))
                .allSatisfy(line -> assertThat(TextWidth.of(line.substring(0, line.indexOf("waiting"))))
                        .isEqualTo(column));
        assertThat(table).doesNotContain("?");
        assertThat(TextWidth.start("a\ud83d\ude00b", 2)).isEqualTo("a");
        assertThat(TextWidth.end("a\ud83d\ude00b", 2)).isEqualTo("b");
    }
}
