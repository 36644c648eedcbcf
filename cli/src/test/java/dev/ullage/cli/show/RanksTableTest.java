package dev.ullage.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RanksTableTest {
    private static final String STATUS =
            """
            {"schema":1,"time":"2026-03-01T10:15:30.123Z","nodes":[{"node":"host-b","devices":[
              {"uuid":"GPU-1","ranks":[
                {"job":"bert","rank":3,"watch":{"step":1200,"epoch":2,"steps":100,
                  "phases":[{"phase":"FORWARD","peakReservedBytes":10737418240,"peakAllocatedBytes":9663676416},
                            {"phase":"BACKWARD","peakReservedBytes":null,"peakAllocatedBytes":12884901888}],
                  "allocations":12345,"allocationsPerStep":700,"fragmentationBasisPoints":1500,
                  "roundingWasteBasisPoints":200,"retries":0,"refusals":0,
                  "leak":{"state":"suspected","growthPerStepBytes":1258291,"confidenceBasisPoints":9999,"points":80},
                  "snapshots":[],"cacheRelease":null}},
                {"job":"bert","rank":4,"watch":{"step":1200,"epoch":null,"steps":100,"phases":[],
                  "allocationsPerStep":null,"fragmentationBasisPoints":null,"roundingWasteBasisPoints":null,
                  "leak":{"state":"none","growthPerStepBytes":null,"confidenceBasisPoints":null,"points":80}}},
                {"job":"gpt","rank":0,"watch":null}]}]}]}
            """;

    private static JsonNode status() throws JsonProcessingException {
        return new JsonMapper().readTree(STATUS);
    }

    @Test
    void everyRankHasALineWithWhatIsKnownOfIt() throws Exception {
        assertThat(RanksTable.render(RanksTable.ranks(status(), Optional.empty()), Terminal.NONE))
                .isEqualTo(
                        """
            NODE    RANK    STEP  EPOCH  INIT   FORWARD  BACKWARD  OPTIMIZER  EVALUATION  CHECKPOINT  IDLE  ALLOC/STEP  FRAG  WASTE  LEAK
            host-b  bert/3  1200      2     -  10.0 GiB  12.0 GiB          -           -           -     -         700   15%     2%  1.2 MiB/step
            host-b  bert/4  1200      -     -         -         -          -           -           -     -           -     -      -  none
            host-b  gpt/0      -      -     -         -         -          -           -           -     -           -     -      -  -
            """);
    }

    @Test
    void aJobsRanksAreAListWithNodeAndDevice() throws Exception {
        JsonNode document = RanksTable.ranks(status(), Optional.of("gpt"));

        assertThat(document.toString())
                .isEqualTo("{\"schema\":1,\"time\":\"2026-03-01T10:15:30.123Z\",\"ranks\":[{\"node\":\"host-b\","
                        + "\"device\":\"GPU-1\",\"job\":\"gpt\",\"rank\":0,\"watch\":null}]}");
        assertThat(RanksTable.render(RanksTable.ranks(status(), Optional.of("none")), Terminal.NONE))
                .isEqualTo("no ranks\n");
    }

    @Test
    void theStatusNamesALeakAmongItsNotes() throws Exception {
        assertThat(StatusTable.render(status(), Terminal.NONE)).contains("LEAK 1.2 MiB/step");
    }
}
