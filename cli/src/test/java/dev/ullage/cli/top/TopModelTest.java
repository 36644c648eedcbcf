package dev.ullage.cli.top;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import org.junit.jupiter.api.Test;

/** Snapshots as the stream sends them, and the status they come to. */
class TopModelTest {
    private final TopModel model = new TopModel(read(
            "{'schema':1,'time':'t0','nodes':[{'node':'a','ageMillis':1,'devices':[{'uuid':'G1','usedBytes':1}]}]}"));

    private static JsonNode read(String text) {
        try {
            return new JsonMapper().readTree(text.replace('\'', '"'));
        } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
            throw new IllegalArgumentException(e);
        }
    }

    @Test
    void theFirstStatusIsShownUntilASnapshotComes() {
        assertThat(model.status().at("/nodes/0/devices/0/usedBytes").asInt()).isEqualTo(1);
        assertThat(model.note()).isEmpty();
    }

    @Test
    void aFullSnapshotReplacesEverythingAndLaterOnesChangeIt() {
        model.take(read("{'full':true,'time':'t1','nodes':[{'node':'a','ageMillis':2},{'node':'b','ageMillis':3}],"
                + "'devices':[{'node':'a','uuid':'G2','usedBytes':5,'sampleAgeMillis':10},"
                + "{'node':'b','uuid':'G3','usedBytes':6,'sampleAgeMillis':11}]}"));
        model.take(read("{'full':false,'time':'t2','nodes':[{'node':'a','ageMillis':4}],'devices':"
                + "[{'node':'a','uuid':'G2','usedBytes':7,'sampleAgeMillis':20}],'ages':{'G3':30,'G9':1},'gone':[]}"));

        assertThat(model.status())
                .isEqualTo(read("{'time':'t2','nodes':[{'node':'a','ageMillis':4,'devices':"
                        + "[{'node':'a','uuid':'G2','usedBytes':7,'sampleAgeMillis':20}]}]}"));
        model.take(read("{'full':false,'time':'t3','nodes':[{'node':'b','ageMillis':0}],'devices':[],'ages':{},"
                + "'gone':['G2']}"));
        assertThat(model.status().at("/nodes/0/devices"))
                .isEqualTo(read("[{'node':'b','uuid':'G3','usedBytes':6,'sampleAgeMillis':30}]"));
    }

    @Test
    void silenceIsSaidAndTheLastStatusStays() {
        model.take(read("{'unanswered':true,'time':'t5'}"));
        assertThat(model.note()).contains("no coordinator answers");
        assertThat(model.status().path("time").asText()).isEqualTo("t0");

        model.trouble("the connection broke");
        assertThat(model.note()).isEqualTo("the connection broke");
        model.take(read("{'full':true,'time':'t6','nodes':[],'devices':[]}"));
        assertThat(model.note()).isEmpty();
    }
}
