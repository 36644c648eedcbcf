package dev.ullage.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.ullage.cli.show.TopScreen.View;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class TopScreenTest {
    private static final JsonNode STATUS = read(
            """
            {'schema':1,'time':'2026-03-01T12:00:00.000Z','coordinator':{'node':'c0','state':'ACTIVE','epoch':3},
             'nodes':[
              {'node':'gpu-a','devices':[
               {'uuid':'GPU-aaaa0000-1','index':0,'totalBytes':85899345920,'usedBytes':21474836480,
                'ceilingBytes':42949672960,'budgetInForceBytes':68719476736,'overBudget':false,'sampleAgeMillis':400,
                'ranks':[{'job':'bert','rank':0,'phase':'FORWARD','usedBytes':21474836480,'limitBytes':42949672960,
                          'enforcedBy':'allocator','connected':true,'settled':true}]},
               {'uuid':'GPU-aaaa0001-1','index':1,'totalBytes':85899345920,'usedBytes':64424509440,
                'ceilingBytes':77309411328,'budgetInForceBytes':68719476736,'overBudget':true,'sampleAgeMillis':900,
                'ranks':[{'job':'gpt','rank':1,'phase':'OPTIMIZER','usedBytes':64424509440,'limitBytes':60129542144,
                          'enforcedBy':'advisory','connected':true,'settled':false},
                         {'job':'bert','rank':1,'phase':'IDLE','usedBytes':null,'limitBytes':null,
                          'enforcedBy':null,'connected':false,'settled':true}]}]},
              {'node':'gpu-b','devices':[
               {'uuid':'GPU-bbbb0000-1','index':0,'totalBytes':null,'usedBytes':null,'ceilingBytes':null,
                'budgetInForceBytes':null,'overBudget':null,'sampleAgeMillis':null,'ranks':null}]}]}
            """);

    private static JsonNode read(String text) {
        try {
            return new JsonMapper().readTree(text.replace('\'', '"'));
        } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static String screen(TopSort sort, int rows, int columns, boolean hasColours) {
        return String.join("\n", TopScreen.render(STATUS, "", sort, rows, new Terminal(true, hasColours, columns)));
    }

    @Test
    void aWideTerminalShowsEverything() {
        assertThat(screen(TopSort.DEVICE, 14, 110, false))
                .isEqualTo(
                        """
                        coordinator c0  ACTIVE  epoch 3  2 nodes, 3 devices, 3 ranks  2026-03-01T12:00:00.000Z

                        NODE   DEVICE        MEMORY                             USED   CEILING    BUDGET   AGE  NOTE
                        gpu-a  GPU-aaaa0000  [######=======........      ]  20.0 GiB  40.0 GiB  64.0 GiB  0.4s
                        gpu-a  GPU-aaaa0001  [####################=!!!   ]  60.0 GiB  72.0 GiB  64.0 GiB  0.9s  OVER_BUDGET
                        gpu-b  GPU-bbbb0000  -                                     -         -         -     -
                        RANK    DEVICE        PHASE          USED     LIMIT  ENFORCED-BY  NOTE
                        bert/0  GPU-aaaa0000  FORWARD    20.0 GiB  40.0 GiB  allocator
                        gpt/1   GPU-aaaa0001  OPTIMIZER  60.0 GiB  56.0 GiB  advisory     ABOVE_LIMIT SETTLING
                        bert/1  GPU-aaaa0001  IDLE              -         -  -            OFFLINE



                        q quit   sort: [device] used fullest job""");
    }

    @Test
    void aTurnIsInTheNoteOfARank() {
        JsonNode status = read(
                STATUS.toString()
                        .replaceFirst(
                                "\"index\":1,",
                                """
                        "index":1,"turns":{"holding":[{"job":"gpt","heldMillis":5}],
                        "waiting":[{"job":"bert","rank":1,"waitedMillis":2100}]},"""));
        String screen =
                String.join("\n", TopScreen.render(status, "", TopSort.DEVICE, 14, new Terminal(true, false, 110)));

        assertThat(screen).contains("advisory     SETTLING TURN\n", "OFFLINE WAITS_TURN 2.1s\n");
    }

    @Test
    void aSmallTerminalShowsWhatMattersAndHowMuchMoreThereIs() {
        assertThat(screen(TopSort.FULLEST, 9, 60, false))
                .isEqualTo(
                        """
                        coordinator c0  ACTIVE  epoch 3  2 nodes, 3 devices, 3 ranks

                        DEVICE        MEMORY                 USED    BUDGET
                        GPU-aaaa0001  [###########=!  ]  60.0 GiB  64.0 GiB
                        ... and 2 more devices
                        RANK   PHASE          USED     LIMIT  NOTE
                        gpt/1  OPTIMIZER  60.0 GiB  56.0 GiB  ABOVE_LIMIT SETTLING
                        ... and 2 more ranks
                        q quit   sort: device used [fullest] job   arrows: scroll""");
    }

    @Test
    void whatDoesNotFitIsScrolledToDevicesFirst() {
        Terminal terminal = new Terminal(true, false, 60);
        int most = TopScreen.hidden(STATUS, 9);
        assertThat(most).isEqualTo(4);
        View view = new View(TopSort.DEVICE, 0);
        assertThat(TopScreen.render(STATUS, "", view.moved(1, most), 9, terminal))
                .anyMatch(line -> line.contains("GPU-aaaa0001"))
                .contains("... and 1 more device, 1 above", "... and 2 more ranks");
        assertThat(TopScreen.render(STATUS, "", view.moved(3, most), 9, terminal))
                .anyMatch(line -> line.contains("GPU-bbbb0000"))
                .anyMatch(line -> line.startsWith("gpt/1"))
                .contains("... 2 above", "... and 1 more rank, 1 above");
        List<String> last = TopScreen.render(STATUS, "", view.moved(99, most), 9, terminal);
        assertThat(last).hasSize(9).anyMatch(line -> line.startsWith("bert/1"));
        assertThat(last.stream().filter("... 2 above"::equals)).hasSize(2);
        assertThat(TopScreen.hidden(STATUS, 30)).isZero();
    }

    @ParameterizedTest
    @EnumSource(TopSort.class)
    void noScreenHasMoreLinesOrColumnsThanThereAre(TopSort sort) {
        for (int rows = 1; rows <= 20; rows++) {
            for (int columns = 20; columns <= 140; columns += 7) {
                List<String> lines =
                        TopScreen.render(STATUS, "a note ".repeat(9), sort, rows, new Terminal(true, false, columns));
                assertThat(lines).as("%d x %d", rows, columns).hasSize(rows);
                for (String line : lines) {
                    assertThat(line.length())
                            .as("%d x %d: %s", rows, columns, line)
                            .isLessThanOrEqualTo(columns);
                }
            }
        }
    }

    @Test
    void coloursAreAddedToTheSameText() {
        String coloured = screen(TopSort.USED, 14, 110, true);

        assertThat(coloured).contains("\u001b[31;1mOVER_BUDGET\u001b[0m");
        assertThat(coloured.replaceAll("\u001b\\[[0-9;]*m", "")).isEqualTo(screen(TopSort.USED, 14, 110, false));
    }

    @ParameterizedTest
    @CsvSource({"DEVICE, bert/0", "USED, gpt/1", "FULLEST, gpt/1", "JOB, bert/0"})
    void theRanksAreInTheOrderAskedFor(TopSort sort, String first) {
        List<String> lines = TopScreen.render(STATUS, "", sort, 30, new Terminal(true, false, 110));
        int heading = lines.indexOf(lines.stream()
                .filter(line -> line.startsWith("RANK"))
                .findFirst()
                .orElseThrow());

        assertThat(lines.get(heading + 1)).startsWith(first + " ");
        assertThat(TopSort.ofKey(sort.label().charAt(0))).contains(sort);
        assertThat(TopSort.ofKey('x')).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0, 64, '[................    ]'",
        "1, 0, 64, '[#...............    ]'",
        "20, 40, 64, '[#####=====......    ]'",
        "20, 72, 64, '[#####===========!!  ]'",
        "80, 80, 64, '[####################]'"
    })
    void aBarShowsUsePromiseAndBudget(long used, long ceiling, long budget, String bar) {
        var device = JsonNodeFactory.instance
                .objectNode()
                .put("totalBytes", 80L)
                .put("usedBytes", used)
                .put("ceilingBytes", ceiling)
                .put("budgetInForceBytes", budget);

        assertThat(TopScreen.bar(device, 20)).isEqualTo(bar);
        assertThat(TopScreen.bar(device.putNull("totalBytes"), 20)).isEqualTo("-");
    }
}
