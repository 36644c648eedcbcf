package dev.ullage.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;

class EvennessTextTest {
    private static final String STATUS =
            """
            {"coordinator":{"node":"c-1","state":"ACTIVE","epoch":1},"time":"2026-03-01T10:15:30.123Z",
             "nodes":[{"node":"host-b","devices":[{"uuid":"GPU-1","index":0,"name":"H100-80G",
               "ranks":[{"job":"bert","rank":3,"pid":1}]}]}],
             "evenness":{"mode":"suggest",
              "jobs":[
               {"job":"bert","uneven":true,"skew":[{"phase":"BACKWARD","percent":150,"rank":3}],
                "proposal":{"samples":[40,24]},"explanation":"batch 64 as 40, 24"},
               {"job":"even","uneven":false,"skew":[],"proposal":null,"explanation":"no rank takes batch shares"}],
              "devices":[{"node":"host-b","device":"GPU-1","fillBasisPoints":9000,"meanBasisPoints":5000}],
              "moves":[{"job":"bert","rank":3,"text":"rank bert/3 to GPU 1"}]}}
            """;

    private static JsonNode json(String text) throws JsonProcessingException {
        return new ObjectMapper().readTree(text);
    }

    @Test
    void onlyWhatIsUnevenHasALine() throws Exception {
        assertThat(StatusTable.render(json(STATUS), Terminal.NONE))
                .endsWith(
                        """

            UNEVEN
            bert  largest peak by median BACKWARD 150 % (rank 3); suggestion, nothing is sent: batch 64 as 40, 24
            host-b device GPU-1  at 90 %, the mean of all devices is 50 %
            suggestion: rank bert/3 to GPU 1
            """);
        assertThat(StatusTable.render(json("{\"evenness\":null}"), Terminal.NONE))
                .doesNotContain("UNEVEN");
    }

    @Test
    void aJobsExplanationSaysWhyAlsoWhereItIsEven() throws Exception {
        assertThat(JobExplanation.render(json(STATUS), "bert", Terminal.NONE).orElseThrow())
                .endsWith("evenness: largest peak by median BACKWARD 150 % (rank 3); suggestion, nothing is sent:"
                        + " batch 64 as 40, 24\nsuggestion: rank bert/3 to GPU 1\n");
        assertThat(EvennessText.ofJob(json(STATUS), "even"))
                .isEqualTo("evenness: skew not known; no rank takes batch shares\n");
        assertThat(EvennessText.ofJob(json(STATUS.replace("\"suggest\"", "\"on\"")), "bert"))
                .startsWith("evenness: largest peak by median BACKWARD 150 % (rank 3); batch 64 as 40, 24");
    }
}
