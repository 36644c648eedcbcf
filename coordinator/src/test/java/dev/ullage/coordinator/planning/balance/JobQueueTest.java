package dev.ullage.coordinator.planning.balance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.planning.balance.JobQueue.Standing;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class JobQueueTest {
    private static final long HOUR = 3_600_000;

    private final List<RunningJob> started = new ArrayList<>();
    private final List<NodeRoom> nodes = new ArrayList<>();

    private JobQueue queue(SharingRule rule, int... devicesOfNodes) {
        for (int devices : devicesOfNodes) {
            List<DeviceRoom> rooms = new ArrayList<>();
            for (int i = 0; i < devices; i++) {
                rooms.add(DeviceRoom.wholeDevice("n" + nodes.size() + "/" + i));
            }
            nodes.add(new NodeRoom("n" + nodes.size(), "T4", 64_000, MemoryBytes.ofGibibytes(64), rooms));
        }
        PlacementBoard board = PlacementBoard.of(ShareUnit.MILLI_DEVICE, nodes);
        return new JobQueue(new RunningJobs(board, rule), new BestFitPolicy(), HOUR);
    }

    private JobQueue queue(int... devicesOfNodes) {
        return queue(new SharingRule.Beside(), devicesOfNodes);
    }

    private static WaitingJob job(String name, int devices, long share, double priority, long at, long runsFor) {
        return new WaitingJob(name, PlacementRequest.ofDevices(devices, share), priority, at, OptionalLong.of(runsFor));
    }

    private List<String> start(JobQueue queue, long now) {
        List<RunningJob> begun = queue.start(now);
        started.addAll(begun);
        return begun.stream().map(one -> one.job().name()).toList();
    }

    private void end(JobQueue queue, String name) {
        queue.ended(started.stream()
                .filter(one -> one.job().name().equals(name))
                .findFirst()
                .orElseThrow());
    }

    @Test
    void thePriorityGoesFirstUntilTheOtherHasWaitedLongEnough() {
        JobQueue queue = queue(1);
        queue.submit(job("first", 1, 1000, 1, 0, HOUR));
        assertThat(start(queue, 0)).containsExactly("first");
        queue.submit(job("low", 1, 1000, 0.7, 0, HOUR));
        queue.submit(job("high", 1, 1000, 1.5, HOUR / 2, HOUR));
        queue.submit(job("late", 1, 1000, 1.5, HOUR, HOUR));
        assertThat(start(queue, HOUR)).isEmpty();

        end(queue, "first");
        assertThat(start(queue, HOUR)).containsExactly("high");
        end(queue, "high");
        assertThat(start(queue, 2 * HOUR)).containsExactly("low");
    }

    @Test
    void othersPassTheFirstOnlyWhereTheyDoNotDelayIt() {
        JobQueue queue = queue(2);
        queue.submit(job("runs", 1, 1000, 1, 0, 100));
        start(queue, 0);
        WaitingJob both = job("both", 2, 1000, 1, 1, 50);
        queue.submit(both);
        queue.submit(job("long", 1, 1000, 1, 2, 100));
        queue.submit(job("short", 1, 1000, 1, 3, 90));

        assertThat(start(queue, 10)).containsExactly("short");
        Standing standing = queue.standing(both).orElseThrow();
        assertThat(standing.position()).isEqualTo(1);
        assertThat(standing.startsBy()).contains(100L);
        assertThat(standing.waitsFor()).contains("kept for");
        assertThat(standing.basis()).isEqualTo("the times that what ends on n0 by then was submitted with, of jobs: 2");

        end(queue, "short");
        end(queue, "runs");
        assertThat(start(queue, 100)).containsExactly("both");
        end(queue, "both");
        assertThat(start(queue, 150)).containsExactly("long");
        assertThat(queue.size()).isZero();
    }

    @Test
    void withoutKnownEndsNothingIsKeptAndThatIsSaid() {
        JobQueue queue = queue(1);
        queue.submit(new WaitingJob("runs", PlacementRequest.ofDevices(1, 600), 1, 0, OptionalLong.empty()));
        start(queue, 0);
        WaitingJob whole = job("whole", 1, 1000, 1, 1, 10);
        WaitingJob small = job("small", 1, 400, 1, 2, 10);
        queue.submit(whole);
        queue.submit(small);

        assertThat(start(queue, 5)).containsExactly("small");
        assertThat(queue.standing(whole).orElseThrow().startsBy()).isEmpty();
        assertThat(queue.standing(whole).orElseThrow().basis()).contains("no known end");
        assertThat(queue.standing(small)).isEmpty();

        queue.withdraw(whole);
        assertThat(queue.size()).isZero();
    }

    @Test
    void inTurnsMoreJobsHaveRoom() {
        JobQueue side = queue(1);
        nodes.clear();
        JobQueue turns = queue(new SharingRule.InTurns(282), 1);
        for (int i = 0; i < 6; i++) {
            side.submit(job("job" + i, 1, 500, 1, i, 10));
            turns.submit(job("job" + i, 1, 500, 1, i, 10));
        }
        assertThat(side.start(6)).hasSize(2);
        // 0.5 x 0.282 stays of each, and 0.5 x 0.718 of one passes: (1 - 0.359) / 0.141 = 4.5
        assertThat(turns.start(6)).hasSize(4);
    }

    // The first of the queue never starts later than was said when a node was first kept for it, whatever passes it.
    @Property(tries = 150)
    void theFirstStartsNoLaterThanWasSaid(@ForAll long seed, @ForAll @IntRange(min = 0, max = 1) int turns) {
        nodes.clear();
        SplittableRandom random = new SplittableRandom(seed);
        JobQueue queue = queue(turns == 1 ? new SharingRule.InTurns(300) : new SharingRule.Beside(), 1, 2, 4);
        TreeMap<Long, List<RunningJob>> ends = new TreeMap<>();
        Map<String, Long> promised = new LinkedHashMap<>();
        int submitted = 0;
        int begun = 0;
        for (long now = 0; now < 400 || !ends.isEmpty(); now++) {
            List<RunningJob> over = ends.remove(now);
            if (over != null) {
                over.forEach(queue::ended);
            }
            if (now < 400 && random.nextInt(3) == 0) {
                boolean isLarge = random.nextInt(4) == 0;
                queue.submit(job(
                        "j" + submitted++,
                        isLarge ? 1 + random.nextInt(4) : 1,
                        isLarge ? 1000 : 100 + random.nextInt(900),
                        1,
                        now,
                        1 + random.nextInt(40)));
            }
            for (RunningJob one : queue.start(now)) {
                begun++;
                ends.computeIfAbsent(one.endsAt().orElseThrow(), at -> new ArrayList<>())
                        .add(one);
                assertThat(one.startedAt())
                        .as(one.toString())
                        .isLessThanOrEqualTo(promised.getOrDefault(one.job().name(), Long.MAX_VALUE));
            }
            queue.first().ifPresent(first -> queue.standing(first)
                    .flatMap(Standing::startsBy)
                    .ifPresent(by -> promised.putIfAbsent(first.name(), by)));
        }
        assertThat(begun).isEqualTo(submitted);
        assertThat(queue.size()).isZero();
    }
}
