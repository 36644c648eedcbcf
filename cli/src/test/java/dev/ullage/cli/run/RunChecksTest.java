package dev.ullage.cli.run;

import static dev.ullage.cli.run.Clusters.check;
import static dev.ullage.cli.run.Clusters.plan;
import static dev.ullage.cli.run.Clusters.status;
import static dev.ullage.cli.run.Clusters.terms;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.cli.run.RunChecks.Verdict;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.MemoryBytes;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What is refused before anything starts, with its numbers; and which rank is on which device otherwise. */
class RunChecksTest {
    private static final Optional<MemoryBytes> NOTHING_SAID = Optional.empty();

    /** cases/B02: launchers that count slots from 0 and ignore the visible list. */
    private static JsonNode launcherCase(String name) throws IOException {
        for (JsonNode row : cases("B02/launcher-env.json")) {
            if (row.path("name").asText().equals(name)) {
                return row;
            }
        }
        throw new AssertionError("no row " + name);
    }

    private static JsonNode cases(String file) throws IOException {
        try (InputStream in = RunChecksTest.class.getResourceAsStream("/cases/" + file)) {
            return Clusters.JSON.readTree(Objects.requireNonNull(in));
        }
    }

    private static Map<String, String> variables(JsonNode object) {
        Map<String, String> variables = new TreeMap<>();
        object.properties()
                .forEach(entry -> variables.put(entry.getKey(), entry.getValue().asText()));
        return variables;
    }

    private static List<String> words(JsonNode array) {
        List<String> words = new ArrayList<>();
        array.forEach(word -> words.add(word.asText()));
        return words;
    }

    private static RunChecks.Verdict verdict(JsonNode row) {
        return check(
                status(row.path("physical_gpus").asInt()), terms(variables(row.path("env"))), words(row.path("cmd")));
    }

    private static void assertIsMapped(JsonNode row, RunChecks.Verdict verdict) {
        assertThat(verdict.refusals()).isEmpty();
        row.path("expect_map").properties().forEach(entry -> {
            int localRank = Integer.parseInt(entry.getKey().replace("local_rank ", ""));
            assertThat(verdict.deviceOf(localRank).index())
                    .isEqualTo(entry.getValue().asInt());
        });
        assertThat(verdict.perHost()).hasValue(row.path("expect_map").size());
    }

    @Test
    void everyRowOfTheCaseIsTested() throws IOException {
        assertThat(cases("B02/launcher-env.json")).hasSize(4);
    }

    @Test
    void aListWithAGapIsMappedInItsOrder() throws IOException {
        JsonNode row = launcherCase("list with a gap");

        assertIsMapped(row, verdict(row));
        assertThat(row.path("expect_world").asInt()).isEqualTo(2);
        RunPlan plan = plan(status(4), terms(variables(row.path("env"))), words(row.path("cmd")));
        assertThat(plan.command()).containsSubsequence("deepspeed", "--include", "localhost:0,2", "train.py");
        assertThat(plan.variables()).containsEntry("CUDA_VISIBLE_DEVICES", Optional.empty());
    }

    @Test
    void aListThatTheUserRepeatsIsOneList() throws IOException {
        JsonNode row = launcherCase("scheduler handed 4,5 and the user repeats them as an include list");

        assertIsMapped(row, verdict(row));
        RunPlan plan = plan(status(8), terms(variables(row.path("env"))), words(row.path("cmd")));
        assertThat(plan.command()).containsOnlyOnce("--include").containsOnlyOnce("localhost:4,5");
        assertThat(plan.variables()).containsEntry("CUDA_VISIBLE_DEVICES", Optional.empty());
    }

    @Test
    void aListAndACountThatDisagreeAreRefused() throws IOException {
        assertThat(verdict(launcherCase("list and count disagree")).refusals())
                .containsExactly("a list and a count disagree: 2 ranks for 4 visible devices (2, 4, 5, 7); shorten the"
                        + " list, or say --gpus 2 for its first 2");
    }

    @Test
    void theFirstOfTheListAreUsedWhenThatIsAskedFor() throws IOException {
        JsonNode row = launcherCase("list and count disagree");
        RunTerms two = terms(variables(row.path("env")), 1, OptionalInt.of(2), NOTHING_SAID);

        assertThat(check(status(8), two, words(row.path("cmd"))).refusals()).isEmpty();
        assertThat(plan(status(8), two, words(row.path("cmd"))).command())
                .containsSubsequence("deepspeed", "--include", "localhost:2,4", "train.py")
                .doesNotContain("--num_gpus", "2");
    }

    @Test
    void moreRanksThanListedDevicesAreRefused() throws IOException {
        assertThat(verdict(launcherCase("more ranks than listed devices")).refusals())
                .containsExactly("4 ranks, 2 visible devices (2, 3), at most 1 on each (--ranks-per-device)");
    }

    @Test
    void severalRanksOnADeviceHaveToBeAskedForAndThenTakeTheDevicesInTurn() {
        List<String> command = List.of("torchrun", "--nproc-per-node", "4", "train.py");
        RunTerms two = terms(Map.of(), 2, OptionalInt.empty(), NOTHING_SAID);

        assertThat(check(status(2), terms(Map.of()), command).refusals())
                .containsExactly("4 ranks, 2 visible devices (0, 1), at most 1 on each (--ranks-per-device)");
        RunChecks.Verdict verdict = check(status(2), two, command);
        assertThat(verdict.refusals()).isEmpty();
        assertThat(List.of(0, 1, 2, 3))
                .extracting(rank -> verdict.deviceOf(rank).index())
                .containsExactly(0, 1, 0, 1);
        assertThat(plan(status(2), two, command).variables())
                .containsEntry("ULLAGE_DEVICES", Optional.of("GPU-host-a-0,GPU-host-a-1"));
    }

    @Test
    void anIncludeThatTheListLeavesOutIsRefused() {
        assertThat(check(
                                status(8),
                                terms(Map.of("CUDA_VISIBLE_DEVICES", "4,5")),
                                List.of("deepspeed", "--include", "localhost:0,1", "t.py"))
                        .refusals())
                .containsExactly("--include names devices 0, 1, CUDA_VISIBLE_DEVICES leaves devices 4, 5");
    }

    @Test
    void aListThatNamesNothingHereIsRefused() {
        RunChecks.Verdict verdict =
                check(status(2), terms(Map.of("CUDA_VISIBLE_DEVICES", "GPU-elsewhere")), List.of("torchrun", "t.py"));

        assertThat(verdict.refusals())
                .containsExactly("CUDA_VISIBLE_DEVICES='GPU-elsewhere' leaves no device of devices 0, 1");
        assertThat(verdict.warnings()).first().asString().contains("token 1 'GPU-elsewhere' ends the list");
    }

    @Test
    void aCountThatTheLauncherContradictsIsRefused() {
        RunTerms eight = new RunTerms(
                OptionalInt.of(8), 1, OptionalInt.empty(), NOTHING_SAID, Optional.empty(), Optional.empty());

        assertThat(check(status(8), eight, List.of("mpirun", "-np", "4", "./t")).refusals())
                .containsExactly("--ranks 8, but mpirun is told to start 4");
    }

    @Test
    void moreRanksThanTheClusterHasDevicesAreRefused() {
        ObjectNode status = status(2);
        Clusters.host((ArrayNode) status.path("nodes"), "host-b", 2);
        List<String> command = List.of("mpirun", "-np", "5", "-H", "host-a:4,host-b:4", "./t");

        assertThat(check(status, terms(Map.of()), command).refusals())
                .containsExactly("5 ranks, 4 devices in the whole cluster, at most 1 on each (--ranks-per-device)");
    }

    @Test
    void memoryThatADeviceCanNeverGiveIsRefusedWithTheNumbers() {
        Optional<MemoryBytes> tooMuch = Optional.of(MemoryBytes.ofGibibytes(65));

        assertThat(check(status(1), terms(Map.of(), 1, OptionalInt.empty(), tooMuch), List.of("python3", "t.py"))
                        .refusals())
                .containsExactly("65.0 GiB for each rank, but device 0 (H100-80G) can never give more than 64.0 GiB"
                        + " (80.0 GiB less the reserve of 20%)");
        assertThat(check(
                                status(1),
                                terms(Map.of(), 2, OptionalInt.empty(), Optional.of(MemoryBytes.ofGibibytes(33))),
                                List.of("torchrun", "--nproc-per-node=2", "t.py"))
                        .refusals())
                .singleElement()
                .asString()
                .contains("can never give more than 32.0 GiB", "for each of 2 ranks");
    }

    @Test
    void memoryThatOnlyDoesNotFitNowIsAWarning() {
        ObjectNode status = status(1);
        ((ObjectNode) status.at("/nodes/0/devices/0")).put("ceilingBytes", 40 * MemoryBytes.GIBIBYTE);
        RunTerms wanted = terms(Map.of(), 1, OptionalInt.empty(), Optional.of(MemoryBytes.ofGibibytes(30)));

        RunChecks.Verdict verdict = check(status, wanted, List.of("python3", "t.py"));

        assertThat(verdict.refusals()).isEmpty();
        assertThat(verdict.warnings())
                .containsExactly("30.0 GiB for each rank, but device 0 (H100-80G) has 24.0 GiB to promise to each now;"
                        + " the ranks start with less until others shrink or end");
    }

    @Test
    void memoryOfAJobOnSeveralHostsIsHeldAgainstEveryDevice() {
        RunTerms wanted = terms(Map.of(), 1, OptionalInt.empty(), Optional.of(MemoryBytes.ofGibibytes(65)));
        ObjectNode status = status(2);
        Clusters.host((ArrayNode) status.path("nodes"), "host-b", 2);

        assertThat(check(status, wanted, List.of("mpirun", "-np", "4", "-H", "host-a:2,host-b:2", "./t"))
                        .refusals())
                .containsExactly(
                        "4 ranks of 65.0 GiB each, but only 0 devices of the cluster could ever give a rank that much");
    }

    @Test
    void deepspeedWithoutAListIsToldHowManyByItsOwnOption() {
        RunTerms two = terms(Map.of(), 1, OptionalInt.of(2), NOTHING_SAID);

        RunPlan narrowed = plan(status(8), two, List.of("deepspeed", "t.py"));
        RunPlan included = plan(status(8), terms(Map.of()), List.of("deepspeed", "--include", "localhost:4,5", "t.py"));

        assertThat(narrowed.command()).containsSubsequence("deepspeed", "--include", "localhost:0,1", "t.py");
        assertThat(included.command()).containsOnlyOnce("--include");
        // It counts the slots over the devices it sees: a shorter list would take slots 4 and 5 away.
        assertThat(included.variables()).doesNotContainKey("CUDA_VISIBLE_DEVICES");
    }

    // Slurm may start the step on any of the hosts: this one's devices mean nothing there.
    @Test
    void srunInAClusterOfSeveralHostsIsGivenNoListOfThisHost() {
        ObjectNode status = status(2);
        Clusters.host((ArrayNode) status.path("nodes"), "host-b", 4);

        assertThat(check(status, terms(Map.of()), List.of("srun", "-N1", "-n4", "./t"))
                        .refusals())
                .isEmpty();
        assertThat(plan(status, terms(Map.of()), List.of("srun", "-N1", "-n4", "./t"))
                        .variables())
                .doesNotContainKey("CUDA_VISIBLE_DEVICES");
        assertThat(check(status, terms(Map.of()), List.of("srun", "-N1", "-n5", "./t"))
                        .refusals())
                .containsExactly("5 ranks on a host, but none has more than 4 devices, at most 1 on each"
                        + " (--ranks-per-device)");
    }

    // cases/I01: zero means none, a list cannot widen what was asked for, and nothing said is never all.
    @Test
    void zeroDevicesAreNone() throws IOException {
        JsonNode row = cases("I01/zero.json").get(0);
        RunTerms none = terms(
                variables(row.path("user_env")),
                1,
                OptionalInt.of(row.at("/request/gpus").asInt()),
                NOTHING_SAID);

        RunPlan plan = plan(status(8), none, List.of("python3", "t.py"));

        row.path("expect_child_env").properties().forEach(entry -> assertThat(plan.variables())
                .containsEntry(entry.getKey(), Optional.of(entry.getValue().asText())));
        assertThat(plan.command()).containsExactly("python3", "t.py");
    }

    @Test
    void aUsersListCannotWidenWhatIsAskedFor() throws IOException {
        JsonNode row = cases("I01/zero.json").get(1);
        RunTerms one = terms(
                variables(row.path("user_env")),
                1,
                OptionalInt.of(row.at("/request/gpus").asInt()),
                NOTHING_SAID);

        RunPlan plan = plan(status(8), one, List.of("python3", "t.py"));

        assertThat(plan.variables()).containsEntry("CUDA_VISIBLE_DEVICES", Optional.of("GPU-host-a-0"));
        assertThat(plan.notes()).containsExactly("CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 is replaced by GPU-host-a-0");
    }

    @Test
    void nothingSaidIsNeverAll() throws IOException {
        assertThat(cases("I01/zero.json").get(2).path("request")).isEmpty();

        assertThat(plan(status(8), terms(Map.of()), List.of("torchrun", "--nproc-per-node", "2", "t.py"))
                        .variables())
                .containsEntry("CUDA_VISIBLE_DEVICES", Optional.of("GPU-host-a-0,GPU-host-a-1"));
    }

    @Test
    void anUnknownLauncherIsRunWithWhatIsKnown() {
        RunChecks.Verdict verdict = check(status(2), terms(Map.of()), List.of("accelerate", "launch", "t.py"));

        assertThat(verdict.refusals()).isEmpty();
        assertThat(verdict.devices().map(List::size)).isEqualTo(Optional.<Integer>empty());
        assertThat(verdict.warnings()).first().asString().contains("accelerate is no launcher that is known here");
        assertThat(verdict.devices().stream().flatMap(List::stream).map(DeviceInfo::index))
                .isEmpty();
    }

    @Test
    void nothingIsStartedOnADrainingHostAndDrainingOnesDoNotCount() {
        ObjectNode status = Clusters.status(4);
        Clusters.host((ArrayNode) status.path("nodes"), "host-b", 4);
        ((ObjectNode) status.at("/nodes/0")).put("draining", true);

        assertThat(Clusters.check(status, Clusters.terms(Map.of()), List.of("torchrun", "--nproc-per-node=2", "t.py"))
                        .refusals())
                .containsExactly("this host (node host-a) is draining: nothing new is started on it;"
                        + " \"ullage undrain host-a\" ends that");
        Verdict elsewhere =
                Clusters.check(status, Clusters.terms(Map.of()), List.of("srun", "-n", "6", "python3", "t.py"));
        assertThat(elsewhere.refusals())
                .containsExactly("6 ranks, 4 devices in the whole cluster beside draining nodes, at most 1 on each"
                        + " (--ranks-per-device)");
        assertThat(elsewhere.warnings()).anyMatch(warning -> warning.startsWith("node host-a is draining"));
    }
}
