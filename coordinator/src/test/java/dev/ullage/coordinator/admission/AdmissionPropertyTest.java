package dev.ullage.coordinator.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.Extent;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankGroup;
import dev.ullage.common.model.Share;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * Random jobs of random sizes come and end, devices do not hear for a while, and coordinators are replaced. That no
 * ledger promises more than it has is checked by each ledger itself, at every event.
 */
class AdmissionPropertyTest {
    private static final int STEPS = 120;
    private static final MemoryBytes DEVICE = MemoryBytes.ofGibibytes(80);

    private static <T> T pick(SplittableRandom random, T[] all) {
        return List.of(all).get(random.nextInt(all.length));
    }

    private static JobRequest random(String name, SplittableRandom random, boolean isTimed) {
        Priority priority = pick(random, Priority.values());
        int ranks = 1 + random.nextInt(6);
        RankGroup group = random.nextBoolean()
                ? RankGroup.ofShare(ranks, Share.ofPercent(10 + 10 * random.nextInt(10)))
                : RankGroup.ofMemory(ranks, MemoryBytes.ofGibibytes(4 + random.nextInt(60)));
        OptionalLong time = isTimed
                ? OptionalLong.of(Duration.ofSeconds(5 + random.nextInt(60)).toMillis())
                : OptionalLong.empty();
        JobRequest request = VirtualCluster.request(name, priority, List.of(group), time);
        return VirtualCluster.spread(request, pick(random, Extent.values()));
    }

    // Goal: no part of a job stays. Method: let everything go wrong for a while, then nothing more, and look at the
    // ledgers.
    @Property(tries = 40)
    void nobodyHoldsAPartOnceThingsCalmDown(@ForAll long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        VirtualCluster cluster = VirtualCluster.of(Share.ofPercent(20), DEVICE, 3, 2, 2);
        List<String> jobs = new ArrayList<>();
        for (int step = 0; step < STEPS; step++) {
            if (random.nextInt(4) == 0) {
                String job = "job-" + jobs.size();
                jobs.add(job);
                cluster.submit(random(job, random, random.nextBoolean()));
            }
            if (random.nextInt(6) == 0 && !jobs.isEmpty()) {
                cluster.ends(jobs.get(random.nextInt(jobs.size())));
            }
            if (random.nextInt(5) == 0) {
                cluster.hears("GPU-node-%d-%d".formatted(random.nextInt(3), random.nextInt(2)), random.nextBoolean());
            }
            if (random.nextInt(60) == 0) {
                cluster.failOver();
            }
            cluster.tick();
        }
        for (int node = 0; node < 3; node++) {
            for (int device = 0; device < 2; device++) {
                cluster.hears("GPU-node-%d-%d".formatted(node, device), true);
            }
        }
        jobs.forEach(cluster::falls);
        cluster.passes(Duration.ofSeconds(20));

        assertThat(cluster.isAllOrNone()).as("seed %d", seed).isTrue();
        assertThat(cluster.jobsWithAPart(report -> !report.committed()))
                .as("seed %d", seed)
                .isEmpty();
        assertThat(cluster.jobsWithAPart(report -> true))
                .as("jobs with room are those that are placed, seed %d", seed)
                .containsExactlyElementsOf(cluster.placed());
    }

    // Goal: everybody comes to run, whoever comes later and whatever is known of how long anybody runs.
    @Property(tries = 20)
    void nobodyStarves(@ForAll long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        VirtualCluster cluster = VirtualCluster.of(Share.ofPercent(20), DEVICE, 3, 2, 2);
        RankGroup whole = RankGroup.ofMemory(7, MemoryBytes.ofGibibytes(60));
        Map<String, Instant> ends = new LinkedHashMap<>();
        for (int i = 0; i < 6; i++) {
            cluster.submit(random("early-" + i, random, random.nextBoolean()).withPriority(Priority.MEDIUM));
        }
        cluster.tick();
        cluster.submit(VirtualCluster.request("large", Priority.MEDIUM, List.of(whole), OptionalLong.empty()));
        boolean hasRun = false;
        for (int step = 0; step < 8 * STEPS && !hasRun; step++) {
            if (random.nextInt(3) == 0) {
                cluster.submit(
                        random("late-" + step, random, random.nextBoolean()).withPriority(Priority.MEDIUM));
            }
            cluster.tick();
            for (String job : cluster.placed()) {
                ends.computeIfAbsent(job, name -> cluster.now.plusSeconds(5 + random.nextInt(20)));
            }
            cluster.placed().stream()
                    .filter(job -> !ends.getOrDefault(job, Instant.MAX).isAfter(cluster.now))
                    .forEach(cluster::ends);
            hasRun = cluster.placed().contains("large");
        }

        assertThat(hasRun).as("seed %d", seed).isTrue();
    }
}
