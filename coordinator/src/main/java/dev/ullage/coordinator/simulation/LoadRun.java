package dev.ullage.coordinator.simulation;

import dev.ullage.common.model.Priority;
import dev.ullage.coordinator.planning.balance.JobQueue;
import dev.ullage.coordinator.planning.balance.PlacementBoard;
import dev.ullage.coordinator.planning.balance.PlacementPolicy;
import dev.ullage.coordinator.planning.balance.PlacementRequest;
import dev.ullage.coordinator.planning.balance.RunningJob;
import dev.ullage.coordinator.planning.balance.RunningJobs;
import dev.ullage.coordinator.planning.balance.ShareUnit;
import dev.ullage.coordinator.planning.balance.WaitingJob;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.SplittableRandom;

/**
 * Jobs that come, wait, run and go, in virtual time: drawn from a trace with replacement, at moments of a Poisson
 * process whose rate makes the load. Arrivals stop with the measured time; the queue is then served to its end, so that
 * every wait is known.
 */
public final class LoadRun {
    private static final long MILLIS = 1000;
    /** What one whole of priority is worth: high (1.5) passes low (0.7) that has waited up to 6 h 24 min longer. */
    private static final long AGE_OF_PRIORITY = 8 * 3_600_000L;

    private final List<Run> runs = new ArrayList<>();
    private final LoadSettings settings;
    private final long capacity;
    private final RunningJobs running;
    private final JobQueue queue;
    private final SplittableRandom random;
    private final PriorityQueue<Ending> endings =
            new PriorityQueue<>(Comparator.comparingLong(Ending::at).thenComparingLong(Ending::sequence));
    private final IdentityHashMap<WaitingJob, Run> what = new IdentityHashMap<>();
    private final List<Double> waits = new ArrayList<>();
    private final double meanGap;
    private final long from;
    private final long to;
    private long clock;
    private long usedMilli;
    private long givenMilli;
    private double usedTime;
    private double givenTime;
    private long sequence;
    private int done;
    private int high;
    private int highAtOnce;
    private int stillWaiting;

    private record Run(TraceJob job, PlacementRequest asked, long millis) {}

    private record Ending(long at, long sequence, RunningJob job) {}

    private LoadRun(Workload workload, SharingMode mode, PlacementPolicy policy, LoadSettings settings, long seed) {
        this.settings = settings;
        PlacementBoard board = PlacementBoard.of(ShareUnit.MILLI_DEVICE, workload.nodes());
        capacity = workload.capacityMilli();
        running = new RunningJobs(board, mode.rule(settings.persistentMilli()));
        queue = new JobQueue(running, policy, AGE_OF_PRIORITY);
        random = new SplittableRandom(seed);
        long longest = settings.longest().toMillis();
        double work = 0;
        for (TraceJob job : workload.jobs()) {
            PlacementRequest asked = mode.asks(job.request());
            if (job.ranFor().isPresent() && running.canEverHost(asked)) {
                long millis = Math.min(longest, MILLIS * job.ranFor().getAsLong());
                runs.add(new Run(job, asked, millis));
                work += (double) job.request().total() * millis;
            }
        }
        if (work == 0) {
            throw new IllegalArgumentException("no job of " + workload.name() + " has both devices and a time");
        }
        meanGap = work / runs.size() / capacity / settings.load();
        from = settings.warmUp().toMillis();
        to = from + settings.measured().toMillis();
    }

    /**
     * @param seed of the jobs and their moments: the same in every mode and with every policy
     * @throws IllegalArgumentException when no job of the workload has both devices and a time
     */
    public static LoadOutcome run(
            Workload workload, SharingMode mode, PlacementPolicy policy, LoadSettings settings, long seed) {
        return new LoadRun(workload, mode, policy, settings, seed).run();
    }

    private LoadOutcome run() {
        double next = gap();
        while (next < to || !endings.isEmpty()) {
            boolean isEnding = !endings.isEmpty() && endings.peek().at() <= next;
            if (isEnding || next >= to) {
                Ending ending = endings.remove();
                pass(ending.at());
                end(ending.job());
            } else {
                pass((long) next);
                submit();
                next += gap();
            }
            queue.start(clock).forEach(this::started);
        }
        pass(to);
        double all = (double) capacity * settings.measured().toMillis() / 100;
        return new LoadOutcome(
                waits.stream().mapToDouble(Double::doubleValue).sorted().toArray(),
                usedTime / all,
                givenTime / all,
                done,
                high,
                highAtOnce,
                stillWaiting);
    }

    private double gap() {
        return -meanGap * Math.log(1 - random.nextDouble());
    }

    private void pass(long until) {
        long counted = Math.min(until, to) - Math.max(clock, from);
        if (counted > 0) {
            usedTime += (double) usedMilli * counted;
            givenTime += (double) givenMilli * counted;
        }
        if (clock < to && until >= to) {
            stillWaiting = queue.size();
        }
        clock = Math.max(clock, until);
    }

    private void submit() {
        Run run = runs.get(random.nextInt(runs.size()));
        WaitingJob waiting = new WaitingJob(
                run.job().name(), run.asked(), weight(run.job().priority()), clock, OptionalLong.of(run.millis()));
        what.put(waiting, run);
        queue.submit(waiting);
    }

    private static double weight(Priority priority) {
        return switch (priority) {
            case HIGH -> 1.5;
            case MEDIUM -> 1.0;
            case LOW -> 0.7;
        };
    }

    private Run runOf(RunningJob job) {
        Run run = what.get(job.job());
        if (run == null) {
            throw new IllegalStateException("never submitted: " + job);
        }
        return run;
    }

    private void started(RunningJob job) {
        Run run = runOf(job);
        usedMilli += run.job().request().total();
        givenMilli += run.asked().total();
        endings.add(new Ending(job.endsAt().orElseThrow(), sequence++, job));
        if (job.job().submittedAt() >= from && run.asked().devices() > 0) {
            waits.add(job.waited() / (double) MILLIS);
            if (run.job().priority() == Priority.HIGH) {
                high++;
                highAtOnce += job.waited() == 0 ? 1 : 0;
            }
        }
    }

    private void end(RunningJob job) {
        Run run = runOf(job);
        usedMilli -= run.job().request().total();
        givenMilli -= run.asked().total();
        done += clock >= from && clock < to && run.asked().devices() > 0 ? 1 : 0;
        what.remove(job.job());
        queue.ended(job);
    }
}
