package dev.ullage.coordinator.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NeedsRestart;
import dev.ullage.common.model.OomLevel;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.OomMove;
import dev.ullage.common.protocol.ToOperator.OomMoves;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The rules for machine-readable output that other tools were seen to break: strict JSON, numbers that are numbers with
 * their unit in the name, unknown is null and neither "N/A" nor left out, no list for "not known" and an empty one for
 * "none", an empty list for no GPUs.
 */
class StatusJsonTest {
    /** What its rank was planned to need, and what was measured. */
    private static final String NEEDS =
            """
            {"stage":1,"stages":2,"basis":"measured over its last 17 steps","phases":[
              {"phase":"FORWARD","plannedLowerBytes":9663676416,"plannedBytes":10737418240,
               "plannedUpperBytes":12884901888,"measuredBytes":10737418240,"correctedBytes":11811160064},
              {"phase":"IDLE","plannedLowerBytes":null,"plannedBytes":null,"plannedUpperBytes":null,
               "measuredBytes":8589934592,"correctedBytes":null}],
              "microBatch":{"samples":8,"sizes":2,"needBytes":10737418240,"perSampleBytes":1073741824,
                            "roomBytes":25769803776,"largestSamples":22}}
            """;

    private static final JsonMapper STRICT = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();
    private static final Instant NOW = Instant.parse("2026-03-01T10:15:30.123456Z");
    private static final long GIB = 1L << 30;

    private static ObjectNode ofDevicesAlone(ClusterStatus status) throws Exception {
        ObjectNode shown = (ObjectNode) json(status);
        shown.remove("evenness");
        ((ObjectNode) shown.at("/nodes/0")).remove("host");
        return shown;
    }

    @Test
    void aDeviceAndItsRankAreShownWithEverythingThatIsKnown() throws Exception {
        assertThat((JsonNode) ofDevicesAlone(Statuses.active(Statuses.deviceWithARank())))
                .isEqualTo(STRICT.readTree(
                        """
            {"schema":1,"time":"2026-03-01T10:15:30.123Z",
             "coordinator":{"node":"host-a","state":"ACTIVE","epoch":3,"uid":"c-1"},
             "nodes":[{"node":"host-b","ageMillis":120,"draining":null,"devices":[{
               "uuid":"GPU-1","index":0,"name":"H100-80G","kind":"discrete","pciBusId":null,"mig":null,
               "totalBytes":85899345920,"reservedBytes":1073741824,"allocatableBytes":84825604096,
               "usedBytes":12884901888,"freeBytes":71940702208,"foreignBytes":2147483648,"plannedForeignBytes":2147483648,
               "reserveBasisPoints":2500,"reserveInForceBasisPoints":2000,
               "budgetBytes":61471719424,"budgetInForceBytes":65712999628,
               "ceilingBytes":42949672960,"overBudget":true,"rollout":"SHRINKING","heldBack":"the report is too old",
               "sampleAgeMillis":800,"sampleState":"stale","lostSamples":4,
               "counts":{"ordersSent":1,"ordersRepeated":2,"confirmations":3,"refusals":4,
                         "highestPromisedBytes":68719476736,"overCommits":0},
               "turns":{"poolBytes":null,"poolInForceBytes":null,"outBytes":17179869184,"ranks":1,
                        "holding":[{"job":"bert","heldMillis":95000}],
                        "waiting":[{"job":"bert","rank":3,"pid":4242,"waitedMillis":120}],
                        "given":5,"waits":4,"waitedMillis":3500,"missed":1},
               "problems":["one problem"],
               "ranks":[{
                 "job":"bert","rank":3,"pid":4242,"worldSize":8,"localRank":3,"launcher":"torchrun",
                 "framework":"torch 2.10.0","phase":"FORWARD","step":17,
                 "allocatedBytes":9663676416,"reservedBytes":10737418240,"peakAllocatedBytes":11811160064,
                 "peakReservedBytes":12884901888,"usedBytes":10737418240,
                 "shareBasisPoints":5000,"limitBytes":25769803776,
                 "limitsBytes":{"INIT":34359738368,"FORWARD":25769803776,"BACKWARD":34359738368,
                                "OPTIMIZER":34359738368,"EVALUATION":34359738368,"CHECKPOINT":34359738368,
                                "IDLE":34359738368},
                 "targetBytes":34359738368,"ceilingBytes":42949672960,"sequence":5,"confirmedSequence":4,
                 "settled":false,"enforcedBy":"torch","connected":true,"ageMillis":250,"refusals":4,
                 "needsRestart":null,
                 "watch":{"step":17,"epoch":2,"steps":17,
                   "phases":[{"phase":"FORWARD","peakReservedBytes":10737418240,"peakAllocatedBytes":9663676416},
                             {"phase":"BACKWARD","peakReservedBytes":12884901888,"peakAllocatedBytes":null}],
                   "allocations":12345,"allocationsPerStep":700,"fragmentationBasisPoints":1500,
                   "roundingWasteBasisPoints":200,"retries":1,"refusals":4,
                   "leak":{"state":"suspected","growthPerStepBytes":1048576,"confidenceBasisPoints":9999,"points":80},
                   "snapshots":[{"step":10,"allocatedBytes":8589934592,"reservedBytes":10737418240,
                                 "inactiveSplitBytes":1073741824,"largestFreeBytes":2147483648,"segments":40}],
                   "microBatches":{"now":8,"sizes":[{"samples":8,"phases":[
                     {"phase":"FORWARD","peakReservedBytes":null,"peakAllocatedBytes":9663676416}]}]},
                   "cacheRelease":{"step":12,"beforeBytes":10737418240,"afterBytes":9663676416,
                                   "gainBytes":1073741824},
                   "batch":{"sequence":6,"job":64,"samples":32,"microBatch":16,"most":20,"baseBytes":4294967296}},
                 "enforcement":{"processUsedBytes":11811160064,"overheadBytes":1073741824,"overheadProvisional":false,
                                "allocatorShareBytes":33285996544,"inForceBytes":null,"overCeiling":false,
                                "whyNotHigher":[{"rung":"driver","reason":"the driver is too old"}]},
                 "policy":"growth","priority":null,"explanation":"may grow",
                 "needs":NEEDS,"setLimitBytes":null}]}]}],
             "rollouts":[{"device":"GPU-1","revision":7,"state":"SETTLED","millis":35,"reason":"2 ranks"}],
             "operator":null,"oomMoves":null,
             "errors":[]}
            """
                                .replace("NEEDS", NEEDS)));
    }

    @Test
    void whatIsUnevenIsShownWithWhatWouldEvenItOut() throws Exception {
        assertThat(json(Statuses.active()).path("evenness"))
                .isEqualTo(
                        STRICT.readTree(
                                """
            {"mode":"suggest",
               "jobs":[{"job":"bert","uneven":true,
                 "skew":[{"phase":"FORWARD","percent":125,"rank":0,"peakBytes":10737418240,"medianBytes":8589934592},
                         {"phase":"BACKWARD","percent":150,"rank":3,"peakBytes":12884901888,"medianBytes":8589934592}],
                 "samples":[32,32],
                 "proposal":{"samples":[40,24],"rounds":2,"fullestBasisPoints":9500,"thenBasisPoints":7600},
                 "explanation":"batch 64 as 40, 24"}],
               "devices":[{"node":"host-b","device":"GPU-1","fillBasisPoints":9000,"meanBasisPoints":5000}],
               "moves":[{"job":"bert","rank":3,"from":"GPU-1","to":"GPU-2","needsBytes":12884901888,
                 "fullerBasisPoints":9000,"fullerThenBasisPoints":6000,"meanBasisPoints":5000,
                 "meanThenBasisPoints":4800,"text":"rank bert/3 from GPU 0 to GPU 1"}]}
            """));
        assertThat(json(Statuses.empty()).path("evenness").isNull()).isTrue();
    }

    @Test
    void aRankThatNeedsARestartSaysWhatIsInForceUntilThenAndWhy() throws Exception {
        NeedsRestart needs =
                new NeedsRestart(MemoryBytes.ofGibibytes(8), MemoryBytes.ofGibibytes(4), "TensorFlow's limit is fixed");

        JsonNode rank = device(Statuses.active(Statuses.deviceWithARankThatNeedsARestart(needs)))
                .path("ranks")
                .path(0);

        assertThat(rank.path("needsRestart"))
                .isEqualTo(STRICT.readTree("{\"inForceBytes\":8589934592,\"limitBytes\":4294967296,"
                        + "\"reason\":\"TensorFlow's limit is fixed\"}"));
    }

    @Test
    void aMoveAfterAnOutOfMemoryErrorSaysLevelStepAgeAndWhy() throws Exception {
        JobDirective directive = new JobDirective(
                new JobId("bert"),
                2,
                17,
                OomLevel.MICRO_BATCH,
                new JobDirective.Sizes(OptionalInt.of(8), OptionalInt.of(4)),
                false,
                new JobDirective.Cause(3, Optional.empty(), List.of(), "rank 3 ran out"));
        ClusterStatus empty = Statuses.empty();
        ClusterStatus status = new ClusterStatus(
                empty.coordinator(),
                empty.token(),
                empty.state(),
                empty.nodes(),
                empty.rollouts(),
                Optional.of(new OomMoves(List.of(new OomMove(directive, "DONE", 1_500, OptionalLong.of(42))))),
                Optional.empty());

        assertThat(json(status).path("oomMoves"))
                .isEqualTo(
                        STRICT.readTree(
                                """
            [{"job":"bert","sequence":2,"level":"MICRO_BATCH","state":"DONE","step":17,"ageMillis":1500,"appliedMillis":42,"rank":3,
              "microBatch":8,"accumulation":4,"restart":false,"usedBytes":null,"reason":"rank 3 ran out"}]
            """));
    }

    @Test
    void whatIsNotKnownIsNullAndNotZero() throws Exception {
        JsonNode device = device(Statuses.active(Statuses.silentDevice()));

        assertThat(device.properties())
                .filteredOn(field -> field.getValue().isNull())
                .extracting(java.util.Map.Entry::getKey)
                .containsExactly(
                        "pciBusId",
                        "mig",
                        "totalBytes",
                        "reservedBytes",
                        "allocatableBytes",
                        "usedBytes",
                        "freeBytes",
                        "foreignBytes",
                        "plannedForeignBytes",
                        "reserveBasisPoints",
                        "reserveInForceBasisPoints",
                        "budgetBytes",
                        "budgetInForceBytes",
                        "ceilingBytes",
                        "overBudget",
                        "rollout",
                        "heldBack",
                        "sampleAgeMillis",
                        "sampleState",
                        "lostSamples",
                        "counts",
                        "turns",
                        "ranks");
    }

    @Test
    void nothingIsLeftOutBecauseItIsNotKnown() throws Exception {
        JsonNode known = device(Statuses.active(Statuses.deviceWithARank()));
        JsonNode silent = device(Statuses.active(Statuses.silentDevice()));
        JsonNode silentRank = device(Statuses.active(Statuses.deviceWithASilentRank()))
                .path("ranks")
                .path(0);

        assertThat(names(silent)).isEqualTo(names(known));
        assertThat(names(silentRank)).isEqualTo(names(known.path("ranks").path(0)));
    }

    @Test
    void aRankOnlyTheLedgerKnowsIsShownWithWhatItWasPromised() throws Exception {
        JsonNode rank = device(Statuses.active(Statuses.deviceWithASilentRank()))
                .path("ranks")
                .path(0);

        assertThat(rank.path("ceilingBytes").longValue()).isEqualTo(40 * GIB);
        assertThat(rank.path("phase").isNull()).isTrue();
        assertThat(rank.path("limitBytes").isNull()).isTrue();
        assertThat(rank.path("limitsBytes").isNull()).isTrue();
        assertThat(rank.path("refusals").isNull()).isTrue();
    }

    @Test
    void noGpusIsAnEmptyList() throws Exception {
        JsonNode json = json(Statuses.active());

        assertThat(json.at("/nodes/0/devices").isArray()).isTrue();
        assertThat(json.at("/nodes/0/devices")).isEmpty();
        assertThat(json.path("errors")).isEmpty();
    }

    @Test
    void aCoordinatorThatIsNotActiveSaysThatItsViewMayBeIncomplete() throws Exception {
        JsonNode json = json(Statuses.empty());

        assertThat(json.at("/coordinator/epoch").isNull()).isTrue();
        assertThat(json.path("errors").path(0).asText()).startsWith("the coordinator is CLAIMING");
    }

    @ParameterizedTest
    @MethodSource("statuses")
    void everyAmountHasItsUnitInItsNameAndNoTextStandsForANumber(ClusterStatus status) throws Exception {
        String text = StatusJson.of(status, NOW).toString();

        assertThat(text).doesNotContain("N/A", "NaN", "Infinity", "GiB");
        assertUnits(STRICT.readTree(text));
    }

    static java.util.stream.Stream<ClusterStatus> statuses() {
        return java.util.stream.Stream.of(
                Statuses.empty(),
                Statuses.active(),
                Statuses.active(Statuses.silentDevice()),
                Statuses.active(Statuses.deviceWithASilentRank()),
                Statuses.active(Statuses.deviceWithARank()));
    }

    private static void assertUnits(JsonNode json) {
        json.properties().forEach(field -> {
            if (field.getKey().endsWith("Bytes") && field.getValue().isValueNode()) {
                assertThat(field.getValue().isIntegralNumber()
                                || field.getValue().isNull())
                        .as(field.getKey())
                        .isTrue();
            }
            if (field.getValue().isIntegralNumber() && field.getValue().longValue() >= 1 << 20) {
                assertThat(field.getKey()).matches(".*(Bytes|Millis)|" + String.join("|", names(limits())));
            }
        });
        json.forEach(StatusJsonTest::assertUnits);
    }

    private static JsonNode limits() {
        return StatusJson.of(Statuses.active(Statuses.deviceWithARank()), NOW)
                .at("/nodes/0/devices/0/ranks/0/limitsBytes");
    }

    private static JsonNode device(ClusterStatus status) throws Exception {
        return json(status).at("/nodes/0/devices/0");
    }

    private static JsonNode json(ClusterStatus status) throws Exception {
        return STRICT.readTree(StatusJson.of(status, NOW).toString());
    }

    private static Set<String> names(JsonNode json) {
        Set<String> names = new TreeSet<>();
        json.fieldNames().forEachRemaining(names::add);
        return names;
    }
}
