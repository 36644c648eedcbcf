package dev.ullage.coordinator.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankGroup;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.RequestState;
import dev.ullage.common.protocol.RequestState.RankPlace;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Cases that other schedulers got wrong, in virtual time, each with the numbers of the report it is from:
 * kai-scheduler/KAI-Scheduler#2153 and volcano-sh/volcano#3616 (bursts), ray-project/ray#20933 (fractions),
 * Project-HAMi/volcano-vgpu-device-plugin#116 (gangs).
 */
class GangCasesTest {
    private static final Share RESERVE = Share.ofPercent(20);
    private static final Share HALF = Share.ofPercent(50);
    private static final MemoryBytes H100 = MemoryBytes.ofMebibytes(81_559);
    private static final MemoryBytes SMALL = MemoryBytes.ofGibibytes(24);
    private static final int REPETITIONS = 50;

    // Goal: 2 on each of 8 devices, in any order of arrival, with arrivals spread over looks at the queue.
    @Test
    void aBurstOfHalvesComesToTwoOnEachDevice() {
        for (int seed = 0; seed < REPETITIONS; seed++) {
            Random random = new Random(seed);
            VirtualCluster cluster = VirtualCluster.of(RESERVE, H100, seed % 2 == 0 ? new int[] {8} : new int[] {4, 4});
            List<String> jobs = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                jobs.add("half-%02d".formatted(i));
            }
            Collections.shuffle(jobs, random);
            for (String job : jobs) {
                cluster.submit(VirtualCluster.share(job, 1, HALF));
                if (random.nextInt(8) == 0) {
                    cluster.tick();
                }
            }
            cluster.ticks(16);

            assertThat(cluster.placed()).as("seed %d", seed).hasSize(16);
            assertThat(cluster.jobsOnDevices())
                    .as("seed %d", seed)
                    .containsOnly(2)
                    .hasSize(8);
        }
    }

    @Test
    void ofThreeThatDoNotAllFitTwoArePlacedAndOneSaysWhatItWaitsFor() {
        for (int seed = 0; seed < REPETITIONS; seed++) {
            VirtualCluster cluster = new VirtualCluster();
            for (int i = 0; i < 8; i++) {
                cluster.add("node", i, SMALL, Share.NONE, i == seed % 8 ? MemoryBytes.ZERO : SMALL);
            }
            for (int i = 0; i < 3; i++) {
                cluster.submit(VirtualCluster.request("job-" + (i * 7 + seed) % 3, 1, MemoryBytes.ofGibibytes(12)));
            }
            cluster.ticks(8);

            assertThat(cluster.placed()).as("seed %d", seed).hasSize(2);
            assertThat(cluster.waiting()).hasSize(1);
            RequestState.Waiting waiting =
                    cluster.state(cluster.waiting().get(0)).waiting().orElseThrow();
            assertThat(waiting.position()).hasValue(1);
            assertThat(waiting.waitsFor()).startsWith("1 device with 12.0 GiB; 0 have that now");
            assertThat(waiting.startsInMillis()).isEmpty();
            assertThat(waiting.basis()).contains("no known end");
        }
    }

    @Test
    void sixTenthsGoOneToADeviceAndNoneHangs() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, H100, 8, 8);
        for (int i = 0; i < 10; i++) {
            cluster.submit(VirtualCluster.share("job-" + i, 1, Share.ofPercent(60)));
        }
        cluster.ticks(12);

        assertThat(cluster.placed()).hasSize(10);
        assertThat(cluster.jobsOnDevices()).allMatch(jobs -> jobs <= 1);
        assertThat(perNode(cluster)).containsValues(8, 2);
    }

    private static Map<NodeId, Integer> perNode(VirtualCluster cluster) {
        Map<NodeId, Integer> counts = new LinkedHashMap<>();
        cluster.states().forEach(state -> state.ranks().forEach(rank -> counts.merge(rank.node(), 1, Integer::sum)));
        return counts;
    }

    @Test
    void whatIsFreeOnTwoDevicesIsNotRoomForOneRank() {
        VirtualCluster cluster = new VirtualCluster();
        MemoryBytes sixTenths = H100.times(Share.ofPercent(60));
        cluster.add("node-0", 0, H100, Share.NONE, sixTenths);
        cluster.add("node-0", 1, H100, Share.NONE, sixTenths);
        cluster.add("node-1", 0, H100, Share.NONE, MemoryBytes.ZERO);
        cluster.submit(VirtualCluster.share("job", 1, Share.ofPercent(80)));
        cluster.ticks(6);

        assertThat(cluster.state("job").ranks()).extracting(RankPlace::node).containsExactly(new NodeId("node-1"));
    }

    @Test
    void eightyOfEighteenHundredthsComeToFiveOnEachDevice() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, H100, 8, 8);
        for (int i = 0; i < 80; i++) {
            cluster.submit(VirtualCluster.share("job-%02d".formatted(i), 1, Share.ofPercent(18)));
        }
        cluster.ticks(12);

        assertThat(cluster.placed()).hasSize(80);
        assertThat(cluster.jobsOnDevices()).containsOnly(5).hasSize(16);
    }

    @Test
    void ranksThatNeedDifferentAmountsArePlacedTogetherOrRefusedWithTheNumbers() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, H100, 2, 2);
        List<RankGroup> groups = List.of(
                RankGroup.ofShare(1, Share.ofPercent(10)),
                RankGroup.ofShare(1, Share.ofPercent(90)),
                RankGroup.ofShare(1, Share.ofPercent(90)));
        cluster.submit(VirtualCluster.request("unequal", Priority.MEDIUM, groups, OptionalLong.empty()));
        cluster.ticks(6);

        assertThat(cluster.state("unequal").ranks()).hasSize(3);
        MemoryBytes first = cluster.state("unequal").ranks().get(0).amount();
        assertThat(first).isLessThan(cluster.state("unequal").ranks().get(1).amount());
        assertThat(cluster.state("unequal").ranks())
                .extracting(RankPlace::device)
                .doesNotHaveDuplicates();
    }

    // Goal: all or nothing, five waves, and the order of the queue is kept.
    @Test
    void tenJobsOfFourRanksRunInFiveWavesAndNoneHoldsAPart() {
        VirtualCluster cluster = VirtualCluster.of(Share.ofPercent(10), SMALL, 4, 4);
        for (int i = 0; i < 10; i++) {
            cluster.submit(VirtualCluster.request("job-" + i, 4, MemoryBytes.ofGibibytes(20)));
        }
        List<List<String>> waves = waves(cluster, 10);

        assertThat(waves)
                .containsExactly(
                        List.of("job-0", "job-1"),
                        List.of("job-2", "job-3"),
                        List.of("job-4", "job-5"),
                        List.of("job-6", "job-7"),
                        List.of("job-8", "job-9"));
    }

    // Whether or not anybody says how long it runs: nobody passes where the large one waits for.
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theJobOfAllDevicesIsNotStarved(boolean areEndsKnown) {
        VirtualCluster cluster = VirtualCluster.of(Share.ofPercent(10), SMALL, 8);
        OptionalLong time = areEndsKnown ? OptionalLong.of(Duration.ofHours(1).toMillis()) : OptionalLong.empty();
        for (int i = 0; i < 11; i++) {
            int ranks = i == 2 ? 8 : 4;
            RankGroup group = RankGroup.ofMemory(ranks, MemoryBytes.ofGibibytes(20));
            cluster.submit(VirtualCluster.request("job-%02d".formatted(i), Priority.MEDIUM, List.of(group), time));
        }
        List<List<String>> waves = waves(cluster, 11);

        assertThat(waves.get(0)).containsExactly("job-00", "job-01");
        assertThat(waves.get(1)).containsExactly("job-02");
        assertThat(waves).hasSize(6);
    }

    /** Lets what runs end together, again and again; in which groups the jobs ran. */
    private static List<List<String>> waves(VirtualCluster cluster, int jobs) {
        List<List<String>> waves = new ArrayList<>();
        int done = 0;
        while (done < jobs) {
            for (int i = 0; i < 12; i++) {
                cluster.tick();
                assertThat(cluster.jobsWithAPart(part -> part.committed()))
                        .as("jobs with a part")
                        .hasSizeLessThanOrEqualTo(2);
            }
            assertThat(cluster.isAllOrNone()).isTrue();
            List<String> wave = cluster.placed();
            assertThat(wave).as("wave %d", waves.size()).isNotEmpty();
            wave.forEach(cluster::ends);
            done += wave.size();
            waves.add(wave);
        }
        return waves;
    }
}
