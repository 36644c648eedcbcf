package dev.ullage.coordinator.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.Extent;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankGroup;
import dev.ullage.common.model.Share;
import dev.ullage.coordinator.admission.RequestReader.Reading;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RequestReaderTest {
    private static Reading read(Object... namesAndValues) {
        Map<String, Object> values = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            values.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return RequestReader.read(new JobId("job"), "me", values);
    }

    @Test
    void everyFieldIsRead() {
        JobRequest request = read(
                        "ranks",
                        4,
                        "memoryPerRank",
                        "20GiB",
                        "ranksPerDevice",
                        2,
                        "priority",
                        "high",
                        "extent",
                        "same-node",
                        "node",
                        "host-a",
                        "model",
                        "*H100*",
                        "mig",
                        "2g.*",
                        "hostMemory",
                        "64GiB",
                        "cpus",
                        0.5,
                        "runsFor",
                        "2h")
                .request()
                .orElseThrow();

        assertThat(request.groups()).containsExactly(RankGroup.ofMemory(4, MemoryBytes.ofGibibytes(20)));
        assertThat(request.devices()).isEqualTo(2);
        assertThat(request.priority()).isEqualTo(Priority.HIGH);
        assertThat(request.wanted().extent()).isEqualTo(Extent.SAME_NODE);
        assertThat(request.wanted().host().cpuMilli()).hasValue(500);
        assertThat(request.runsForMillis()).hasValue(7_200_000);
        assertThat(HostTexts.notes(request))
                .containsExactly(
                        "0.5 cpus and 64.0 GiB of host memory for each rank: counted where jobs are placed, and"
                                + " advisory: nothing holds a rank to it");
        assertThat(request.text())
                .isEqualTo(
                        "4 ranks with 20.0 GiB each, 2 on a device, for each rank 0.5 cpus and 64.0 GiB of host memory,"
                                + " same-node, on host-a, model *H100*, MIG 2g.*");
    }

    @Test
    void allThatIsWrongIsSaidAtOnceWithFieldValueAndRule() {
        Reading reading = read(
                "ranks",
                -1,
                "memoryPerRank",
                "lots",
                "ranksPerDevice",
                65,
                "priority",
                "urgent",
                "extent",
                "near",
                "modell",
                "H100",
                "cpus",
                "many",
                "runsFor",
                "2 days",
                "hostMemory",
                "0");

        assertThat(reading.request()).isEmpty();
        assertThat(reading.problems())
                .hasSize(8)
                .contains(
                        "ranks = -1: must be a whole number from 0 to 4096",
                        "ranksPerDevice = 65: must be a whole number from 1 to 64",
                        "priority = urgent: must be high, medium or low",
                        "extent = near: must be one of same-node, few-nodes, spread",
                        "hostMemory = 0: is none: leave it out")
                .anyMatch(problem -> problem.startsWith("modell: there is no such field (did you mean model?)"));
    }

    @Test
    void zeroIsNoneAndWhatIsLeftOutIsNotEverything() {
        assertThat(read("ranks", 0).request().orElseThrow().groups()).isEmpty();
        assertThat(read().problems()).containsExactly("ranks: must be set; 0 is none");
        assertThat(read("ranks", 2).problems()).singleElement().asString().startsWith("memoryPerRank: must be set");
        assertThat(read("ranks", 2, "memoryPerRank", "0GiB").problems())
                .singleElement()
                .asString()
                .contains("memoryPerRank = 0GiB: is none");
    }

    @Test
    void sharesAndGroups() {
        assertThat(read("ranks", 1, "memoryPerRank", "100%")
                        .request()
                        .orElseThrow()
                        .text())
                .isEqualTo("1 rank with a whole device");
        List<Map<String, Object>> groups =
                List.of(Map.of("ranks", 1, "memoryPerRank", "10%"), Map.of("ranks", 2, "memoryPerRank", "90%"));
        JobRequest unequal = read("groups", groups).request().orElseThrow();
        assertThat(unequal.groups())
                .containsExactly(RankGroup.ofShare(1, Share.ofPercent(10)), RankGroup.ofShare(2, Share.ofPercent(90)));

        assertThat(read("ranks", 4, "memoryPerRank", "60%", "ranksPerDevice", 2).problems())
                .containsExactly("a rank's share times the ranks per device is more than a device");
        assertThat(read("ranks", 4096, "memoryPerRank", "60%").problems())
                .singleElement()
                .asString()
                .contains("is on 4096 devices; a job that is placed as a whole has at most 1024");
        assertThat(read("groups", List.of("x"), "ranks", 1).problems()).hasSize(2);
        assertThat(read("ranks", 1, "memoryPerRank", "99999999TiB").problems()).hasSize(1);
    }
}
