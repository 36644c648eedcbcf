package dev.ullage.coordinator.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.Extent;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.JobRequest.HostNeed;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankGroup;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.RequestState;
import dev.ullage.common.protocol.ToOperator.RequestRefused;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.statistics.Statistics;

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

    // Goal: the start that the first of the queue was told is kept. Method: everybody says how long they run, and none
    // of them runs longer, though some end early; what is told is compared with what comes.
    @Property(tries = 40)
    void whoPassesNeverDelaysTheFirst(@ForAll long seed, @ForAll boolean someEndEarly) {
        Promises promises = Promises.keptWith(seed, someEndEarly, false);

        assertThat(promises.broken).as("seed %d", seed).isEmpty();
        Statistics.label("starts were told, and jobs passed the first")
                .collect(!promises.told.isEmpty() && promises.passed > 0)
                .coverage(of -> of.check(true).percentage(percent -> percent > 50.0));
    }

    // Goal: nor does who passes because the first waits for processors, or for memory of a host. Method: the same, with
    // hosts that are full before their devices are.
    @Property(tries = 40)
    void whoPassesOnTheSameHostsNeverDelaysTheFirst(@ForAll long seed, @ForAll boolean someEndEarly) {
        Promises promises = Promises.keptWith(seed, someEndEarly, true);

        assertThat(promises.broken).as("seed %d", seed).isEmpty();
        Statistics.label("starts were told, jobs passed, and hosts held the first up")
                .collect(!promises.told.isEmpty() && promises.passed > 0 && promises.heldUpByHosts > 0)
                .coverage(of -> of.check(true).percentage(percent -> percent > 50.0));
    }

    // Goal: a start that was told holds while the jobs that make room for it end one just before the other. Method: a
    // history in which the first then lost its devices.
    @Example
    void endsThatAreNearlyAtOnceDelayNobody() {
        assertThat(Promises.keptWith(8_632_851_495_844_112_050L, false, false).broken)
                .isEmpty();
    }

    /** A history of a queue, with what the first was told each time, and what came of it. */
    private static final class Promises {
        /** Two looks after the room is there, and the time that the messages take. */
        private static final Duration MESSAGES = Duration.ofSeconds(3);

        final List<String> broken = new ArrayList<>();
        /** The earliest start that each was told. */
        final Map<String, Instant> told = new LinkedHashMap<>();

        int passed;
        int heldUpByHosts;

        private final SplittableRandom random;
        private final SplittableRandom early;
        private final Optional<SplittableRandom> ofHosts;
        private final VirtualCluster cluster = VirtualCluster.of(Share.ofPercent(20), DEVICE, 2, 2, 3);
        private final Map<String, Instant> ends = new LinkedHashMap<>();
        private final Map<String, Long> times = new LinkedHashMap<>();

        private Promises(long seed, boolean hasHosts) {
            this.random = new SplittableRandom(seed);
            this.early = new SplittableRandom(~seed);
            this.ofHosts = hasHosts ? Optional.of(new SplittableRandom(seed + 1)) : Optional.empty();
            if (hasHosts) {
                List.of("node-0", "node-1", "node-2")
                        .forEach(node -> cluster.host(node, 16, MemoryBytes.ofGibibytes(64)));
            }
        }

        static Promises keptWith(long seed, boolean someEndEarly, boolean hasHosts) {
            Promises promises = new Promises(seed, hasHosts);
            int next = 0;
            for (int step = 0; step < 2 * STEPS; step++) {
                if (promises.random.nextInt(3) == 0 && next < 20) {
                    promises.submit("job-" + next++, someEndEarly);
                }
                promises.step();
            }
            return promises;
        }

        private void submit(String name, boolean someEndEarly) {
            JobRequest request =
                    asking(AdmissionPropertyTest.random(name, random, true).withPriority(Priority.MEDIUM));
            if (!(cluster.submit(request) instanceof RequestRefused)) {
                long says = request.runsForMillis().getAsLong();
                boolean isEarly = someEndEarly && early.nextInt(3) == 0;
                times.put(name, isEarly ? early.nextLong(says) : says);
            }
        }

        /** Some ask for one of both, some for both, some for neither. */
        private JobRequest asking(JobRequest request) {
            if (ofHosts.isEmpty()) {
                return request;
            }
            SplittableRandom some = ofHosts.get();
            OptionalInt cpus = some.nextInt(3) > 0 ? OptionalInt.of(1000 * (1 + some.nextInt(8))) : OptionalInt.empty();
            Optional<MemoryBytes> memory =
                    some.nextInt(3) > 0 ? Optional.of(MemoryBytes.ofGibibytes(1 + some.nextInt(30))) : Optional.empty();
            return VirtualCluster.on(request, new HostNeed(memory, cpus));
        }

        /** Ranks come some time after their job has its room, and use all that it asked for. */
        private void start(List<String> placed) {
            ofHosts.ifPresent(some -> placed.stream()
                    .filter(job -> some.nextInt(4) == 0)
                    .forEach(job -> cluster.starts(
                            job,
                            cluster.state(job)
                                    .request()
                                    .wanted()
                                    .host()
                                    .memory()
                                    .orElse(MemoryBytes.ZERO))));
        }

        private void step() {
            cluster.tick();
            List<RequestState> states = cluster.states();
            List<String> placed = named(RequestState.PLACED, states);
            List<String> waiting = named(RequestState.WAITING, states);
            start(placed);
            for (String job : placed) {
                if (!ends.containsKey(job)) {
                    ends.put(job, cluster.now.plusMillis(times.getOrDefault(job, 0L)));
                    passed += waiting.isEmpty() || number(waiting.get(0)) > number(job) ? 0 : 1;
                }
            }
            placed.stream()
                    .filter(job -> !ends.getOrDefault(job, Instant.MAX).isAfter(cluster.now))
                    .forEach(cluster::ends);
            waiting.stream()
                    .filter(job -> told.getOrDefault(job, Instant.MAX).isBefore(cluster.now.minus(MESSAGES)))
                    .forEach(job ->
                            broken.add("%s was told %s, and it is %s".formatted(job, told.get(job), cluster.now)));
            states.stream()
                    .filter(state -> state.state().equals(RequestState.WAITING))
                    .findFirst()
                    .ifPresent(first -> {
                        String lacks = first.waiting().orElseThrow().waitsFor();
                        heldUpByHosts += lacks.contains("cpus on ") || lacks.contains("host memory on ") ? 1 : 0;
                        tell(first);
                    });
        }

        private static List<String> named(String stage, List<RequestState> states) {
            return states.stream()
                    .filter(state -> state.state().equals(stage))
                    .map(state -> state.request().job().value())
                    .toList();
        }

        private void tell(RequestState first) {
            OptionalLong in = first.waiting().orElseThrow().startsInMillis();
            if (in.isPresent()) {
                Instant start = cluster.now.plusMillis(in.getAsLong());
                told.merge(first.request().job().value(), start, (one, other) -> one.isBefore(other) ? one : other);
            }
        }

        private static int number(String job) {
            return Integer.parseInt(job.substring("job-".length()));
        }
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
