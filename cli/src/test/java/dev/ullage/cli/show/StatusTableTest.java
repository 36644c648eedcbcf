package dev.ullage.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StatusTableTest {
    /** Two devices on one node; the second is over its budget and has no rank. One rank is silent since it joined. */
    private static final String STATUS =
            """
            {"schema":1,"time":"2026-03-01T10:15:30.123Z",
             "coordinator":{"node":"host-a","state":"ACTIVE","epoch":3,"uid":"c-1"},
             "nodes":[{"node":"host-b","ageMillis":120,"devices":[
              {"uuid":"GPU-5a1b2c3d-0000","index":0,"name":"H100-80G","totalBytes":85899345920,"usedBytes":12884901888,
               "freeBytes":71940702208,"foreignBytes":0,"reserveBasisPoints":2500,"reserveInForceBasisPoints":2000,
               "budgetInForceBytes":65712999628,"ceilingBytes":42949672960,"overBudget":false,"rollout":"SHRINKING",
               "sampleAgeMillis":850,"problems":[],
               "ranks":[
                {"job":"bert-large-pretraining-2026","rank":3,"pid":4242,"phase":"FORWARD","usedBytes":10737418240,
                 "limitBytes":25769803776,"targetBytes":34359738368,"ceilingBytes":34359738368,"settled":true,
                 "enforcedBy":"torch","connected":true,"ageMillis":250},
                {"job":"bert-large-pretraining-2026","rank":4,"pid":4243,"phase":null,"usedBytes":null,
                 "limitBytes":null,"targetBytes":null,"ceilingBytes":8589934592,"settled":false,"enforcedBy":null,
                 "connected":null,"ageMillis":null},
                {"job":"x","rank":0,"pid":7,"phase":"IDLE","usedBytes":2147483648,"limitBytes":536870912,
                 "targetBytes":536870912,"ceilingBytes":2147483648,"settled":false,"enforcedBy":"advisory",
                 "connected":false,"ageMillis":125000}]},
              {"uuid":"GPU-5a1b2c3d-0001","index":1,"name":"H100-80G","totalBytes":null,"usedBytes":null,
               "freeBytes":null,"foreignBytes":null,"reserveBasisPoints":2000,"reserveInForceBasisPoints":2000,
               "budgetInForceBytes":1048576,"ceilingBytes":0,"overBudget":true,"rollout":null,"sampleAgeMillis":null,
               "problems":["memory: NO_PERMISSION"],"ranks":[]}]}],
             "rollouts":[],"errors":[]}
            """;

    @Test
    void aJobThatRanOutOfMemoryHasALineForEachMove() throws Exception {
        String moves =
                """
                "oomMoves":[{"job":"x","sequence":1,"level":"MICRO_BATCH","state":"DONE","step":17,"ageMillis":4200,
                 "reason":"rank 3 ran out; micro batch 16 -> 8"}],"rollouts":[]
                """;
        JsonNode status = json(STATUS.replace("\"rollouts\":[]", moves));

        assertThat(StatusTable.render(status, Terminal.NONE))
                .containsSubsequence(
                        "OUT OF MEMORY",
                        "x  1 at step 17, 4.2s ago: MICRO_BATCH DONE: rank 3 ran out; micro batch 16 -> 8");
        assertThat(JobExplanation.render(status, "x", Terminal.NONE).orElseThrow())
                .contains("out of memory, move 1 at step 17, 4.2s ago: MICRO_BATCH DONE: rank 3 ran out");
    }

    @Test
    void foreignMemoryThatIsNotToldIsShownAsTheBoundThatIsPlannedWith() throws Exception {
        JsonNode status = json(
                STATUS.replace("\"foreignBytes\":null,", "\"foreignBytes\":null,\"plannedForeignBytes\":3221225472,"));

        assertThat(StatusTable.render(status, Terminal.NONE)).contains("(3.0 GiB)");
    }

    @Test
    void whoHasATurnAndWhoWaitsHasALineForEachDevice() throws Exception {
        String turns =
                """
                "turns":{"poolBytes":17179869184,"poolInForceBytes":8589934592,"outBytes":8589934592,"ranks":3,
                 "holding":[{"job":"x","heldMillis":1240}],
                 "waiting":[{"job":"bert-large-pretraining-2026","rank":3,"pid":4242,"waitedMillis":310},
                  {"job":"c","rank":0,"pid":1,"waitedMillis":300},{"job":"c","rank":1,"pid":2,"waitedMillis":300},
                  {"job":"c","rank":2,"pid":3,"waitedMillis":200}],
                 "given":40,"waits":12,"waitedMillis":900,"missed":2},"name":"H100-80G","totalBytes":85
                """;
        String text = StatusTable.render(
                json(STATUS.replaceFirst("\"name\":\"H100-80G\",\"totalBytes\":85", turns.strip())), Terminal.NONE);

        assertThat(text)
                .contains(
                        """

                        TURNS
                        NODE    DEVICE                              POOL      OUT  HAS THE TURN  WAITING                                                            GIVEN  MISSED
                        host-b  0 GPU-5a1b2c3d-0000  8.0 GiB -> 16.0 GiB  8.0 GiB  x 1.2s        bert-large-pretraining-2026/3 0.3s, c/0 0.3s, c/1 0.3s and 1 more     40       2
                        """);
        assertThat(text).containsPattern("2026/3 .* torch  .* WAITS_TURN 0.3s\\n");
        assertThat(text).containsPattern("x/0 .* 2m  OFFLINE SETTLING TURN\\n");
        assertThat(StatusTable.render(json(STATUS), Terminal.NONE)).doesNotContain("TURN");
    }

    @Test
    void everyDeviceAndEveryRankHasALine() throws Exception {
        assertThat(StatusTable.render(json(STATUS), Terminal.NONE))
                .isEqualTo(
                        """
            coordinator host-a  ACTIVE  epoch 3  1 node, 2 devices, 3 ranks  2026-03-01T10:15:30.123Z

            NODE    DEVICE               NAME         TOTAL      USED      FREE  FOREIGN     RESERVE    BUDGET   CEILING  ROLLOUT     AGE  NOTE
            host-b  0 GPU-5a1b2c3d-0000  H100-80G  80.0 GiB  12.0 GiB  67.0 GiB      0 B  20% -> 25%  61.2 GiB  40.0 GiB  SHRINKING  0.8s
            host-b  1 GPU-5a1b2c3d-0001  H100-80G         -         -         -        -         20%   1.0 MiB       0 B  -             -  OVER_BUDGET

            NODE    DEVICE               RANK                            PID  PHASE        USED      LIMIT     TARGET   CEILING  ENFORCED-BY   AGE  NOTE
            host-b  0 GPU-5a1b2c3d-0000  bert-large-pretraining-2026/3  4242  FORWARD  10.0 GiB   24.0 GiB   32.0 GiB  32.0 GiB  torch        0.2s
            host-b  0 GPU-5a1b2c3d-0000  bert-large-pretraining-2026/4  4243  -               -          -          -   8.0 GiB  -               -  SETTLING
            host-b  0 GPU-5a1b2c3d-0000  x/0                               7  IDLE      2.0 GiB  512.0 MiB  512.0 MiB   2.0 GiB  advisory       2m  ABOVE_LIMIT OFFLINE SETTLING

            PROBLEMS
            host-b device 1 GPU-5a1b2c3d-0001: memory: NO_PERMISSION
            """);
    }

    @Test
    void aNarrowTerminalShortensNamesAndSaysWhichColumnsItLacks() throws Exception {
        String text = StatusTable.render(json(STATUS), new Terminal(true, false, 120));

        assertThat(text.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(120));
        assertThat(text).contains("bert-lar..2026/3", "OVER_BUDGET", "(too narrow for ");
        assertThat(text.lines().filter(line -> line.startsWith("(too narrow for")))
                .containsExactly("(too narrow for NAME, FOREIGN, AGE)", "(too narrow for NODE, PID, TARGET, AGE)");
    }

    @Test
    void aRankThatNeedsARestartShowsTheLimitItStartedWith() throws Exception {
        String status = STATUS.replace(
                "\"enforcedBy\":\"torch\"",
                "\"enforcedBy\":\"env\",\"needsRestart\":{\"inForceBytes\":30064771072,"
                        + "\"limitBytes\":34359738368,\"reason\":\"fixed at start\"}");

        assertThat(StatusTable.render(json(status), Terminal.NONE))
                .contains("FORWARD  10.0 GiB   28.0 GiB   32.0 GiB  32.0 GiB  env          0.2s  NEEDS_RESTART\n");
    }

    @Test
    void whatHostsHaveIsShownAndThatNothingHoldsJobsToIt() throws Exception {
        String text = StatusTable.render(
                json(
                        """
                        {"nodes":[{"node":"a","devices":[],"host":{"cpuMilli":7500,"memoryBytes":68719476736,
                          "availableBytes":null,"askedCpuMilli":2000,"askedMemoryBytes":0}},
                         {"node":"older","devices":[],"host":null}]}"""),
                Terminal.NONE);

        assertThat(text)
                .contains(
                        """

            HOSTS (asked by jobs of the queue; advisory: nothing holds them to it)
            NODE  CPUS  ASKED  HOST MEMORY  ASKED  AVAILABLE
            a      7.5      2     64.0 GiB    0 B          -
            """)
                .doesNotContain("older");
        assertThat(StatusTable.render(json("{\"nodes\":[{\"node\":\"older\"}]}"), Terminal.NONE))
                .doesNotContain("HOSTS");
    }

    @Test
    void noDevicesIsSaidInWords() throws Exception {
        String text = StatusTable.render(
                json("{\"coordinator\":{\"node\":\"a\",\"state\":\"LEARNING\",\"epoch\":null},\"nodes\":[],"
                        + "\"time\":\"t\",\"errors\":[\"the coordinator is LEARNING\"]}"),
                Terminal.NONE);

        assertThat(text)
                .isEqualTo(
                        """
            coordinator a  LEARNING  epoch -  0 nodes, 0 devices, 0 ranks  t

            no devices

            no ranks

            PROBLEMS
            the coordinator is LEARNING
            """);
    }

    @Test
    void coloursAreOnlyForTerminalsThatWantThem() throws Exception {
        Terminal coloured = Terminal.interactive(Map.of("TERM", "xterm"), 200);
        Terminal plain = Terminal.interactive(Map.of("TERM", "xterm", "NO_COLOR", "1"), 200);

        assertThat(StatusTable.render(json(STATUS), coloured)).contains("\u001b[31;1mOVER_BUDGET\u001b[0m");
        assertThat(StatusTable.render(json(STATUS), plain)).doesNotContain("\u001b");
        assertThat(StatusTable.render(json(STATUS), Terminal.NONE)).doesNotContain("\u001b");
    }

    @Test
    void coloursDoNotMoveAnything() throws Exception {
        String coloured = StatusTable.render(json(STATUS), new Terminal(true, true, 120));

        assertThat(coloured.replaceAll("\u001b\\[[0-9;]*m", ""))
                .isEqualTo(StatusTable.render(json(STATUS), new Terminal(true, false, 120)));
    }

    @Test
    void aNameDoesNotSteerTheTerminal() throws Exception {
        String text = StatusTable.render(json(STATUS.replace("\"x\"", "\"x\\u001b[2J\"")), Terminal.NONE);

        assertThat(text).contains("x?[2J/0").doesNotContain("\u001b");
    }

    @Test
    void aUuidIsShortenedAsFarAsItStaysUnique() throws Exception {
        Map<String, String> labels = DeviceLabels.of(
                json(
                        """
            {"nodes":[{"devices":[{"uuid":"GPU-11111111-aaaa"},{"uuid":"GPU-22222222-aaaa"}]},
                      {"devices":[{"uuid":"GPU-22222222-abbb"},{"uuid":"S"}]}]}
            """));

        assertThat(labels)
                .isEqualTo(Map.of(
                        "GPU-11111111-aaaa", "GPU-11111111",
                        "GPU-22222222-aaaa", "GPU-22222222-aa",
                        "GPU-22222222-abbb", "GPU-22222222-ab",
                        "S", "S"));
    }

    @Test
    void whatOperatorsSetIsListedAndADrainingNodesDevicesSaySo() throws Exception {
        String text = StatusTable.render(
                json(
                        """
            {"nodes":[{"node":"a","draining":true,"devices":[{"uuid":"GPU-1"}]}],
             "operator":{"draining":[{"node":"a","since":"2026-01-01T00:00:00Z","reason":"fan\\u001b[2J","by":"ann"}],
              "jobs":[{"job":"bert","shareBasisPoints":5000,"policy":"growth","priority":"high",
               "ranks":[{"rank":3,"shareBasisPoints":null,"limitBytes":32212254720}]}]}}
            """),
                Terminal.NONE);

        assertThat(text)
                .contains(
                        "DRAINING\n",
                        """
                        SET BY OPERATORS
                        node a is draining since 2026-01-01T00:00:00Z, by ann: fan?[2J
                        job bert: policy growth, priority high, share 50%, limit of rank 3 30.0 GiB
                        """);
    }

    @Test
    void aFileIsNoTerminal() {
        assertThat(Terminal.isTerminal(Path.of("/nonexistent"))).isFalse();
        assertThat(Terminal.NONE.hasColours()).isFalse();
    }

    private static JsonNode json(String text) throws Exception {
        return new JsonMapper().readTree(text);
    }
}
