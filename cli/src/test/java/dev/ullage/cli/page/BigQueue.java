package dev.ullage.cli.page;

import dev.ullage.common.model.Extent;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankGroup;
import dev.ullage.common.protocol.RequestState;
import dev.ullage.common.protocol.RequestState.Waiting;
import dev.ullage.common.protocol.ToOperator.QueueFigures;
import dev.ullage.common.protocol.ToOperator.Requests;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** A queue of any length that never was, with one job of each state beside those that wait. */
public final class BigQueue {
    /** What a page may never take for markup. */
    public static final String ODD_JOB = "<script>document.title='owned'</script><img src=x onerror=alert(1)>";

    /** Of so many an estimate is given, if there is one at all. */
    private static final int ESTIMATED = 50;

    private static final long LEASE = 30_000;
    private static final List<Integer> RANKS = List.of(8, 64, 16, 256);

    private BigQueue() {}

    /** All of it, as a coordinator answers that knows of no bound. */
    public static Requests of(int waiting) {
        List<RequestState> states = new ArrayList<>();
        for (int position = 1; position <= waiting; position++) {
            states.add(waits(position));
        }
        states.add(state(
                request("bert-large", 16, Priority.HIGH),
                RequestState.PLACING,
                Optional.of(new Waiting(
                        OptionalInt.empty(),
                        "the ledgers of its devices to confirm",
                        OptionalLong.empty(),
                        "this takes one round of messages, or fails within seconds")),
                95_000,
                List.of()));
        states.add(state(
                request("ablation-7", 8, Priority.LOW),
                RequestState.REQUEUED,
                Optional.empty(),
                20_000,
                List.of("it was put to the end of the queue")));
        states.add(state(
                request("moe-16", 64, Priority.MEDIUM),
                RequestState.LOST,
                Optional.empty(),
                7_900_000,
                List.of("it runs, and no ledger keeps anything for it: its ranks have what their limits say")));
        states.add(state(
                request("train-0", 51, Priority.MEDIUM), RequestState.PLACED, Optional.empty(), 1_000, List.of()));
        return new Requests(states);
    }

    /** Of one job, if it has a request. */
    public static Requests of(int waiting, JobId job) {
        return new Requests(of(waiting).states().stream()
                .filter(state -> state.request().job().equals(job))
                .toList());
    }

    static QueueFigures figures(int waiting) {
        return new QueueFigures(waiting, 1, 1, List.of(new QueueFigures.Bucket(OptionalLong.empty(), 1)), 1_000, 1, 0);
    }

    private static RequestState waits(int position) {
        String name =
                position == 4 ? ODD_JOB : position == 5 ? "llama-" + "long-name-".repeat(12) : "train-w" + position;
        Priority priority = position < 3 ? Priority.HIGH : position % 7 == 0 ? Priority.LOW : Priority.MEDIUM;
        boolean isEstimated = position <= ESTIMATED && position % 6 != 0;
        Waiting waiting = new Waiting(
                OptionalInt.of(position),
                position > ESTIMATED
                        ? position - 1 + " jobs stand before it"
                        : "%d devices with 64.0 GiB each; 3 have that now"
                                .formatted(RANKS.get(position % RANKS.size())),
                isEstimated ? OptionalLong.of(position * 420_000L) : OptionalLong.empty(),
                position > ESTIMATED
                        ? "looked at are the first " + ESTIMATED
                        : isEstimated
                                ? "the times that the jobs which run there were submitted with"
                                : "of the jobs before it, or of those that run, it is not known when they end");
        return state(
                request(name, RANKS.get(position % RANKS.size()), priority),
                RequestState.WAITING,
                Optional.of(waiting),
                (2_000L - position) * 7_300,
                position == 2 ? List.of("room was refused on GPU 3 of gpu-017: its newest reading is old") : List.of());
    }

    private static JobRequest request(String job, int ranks, Priority priority) {
        return new JobRequest(
                new JobId(job),
                "bench",
                priority,
                List.of(RankGroup.ofMemory(ranks, MemoryBytes.ofGibibytes(64))),
                1,
                new JobRequest.Wanted(
                        Extent.FEW_NODES,
                        ranks == 8 ? Optional.of(new NodeId("gpu-017")) : Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        JobRequest.HostNeed.NONE),
                OptionalLong.of(3_600_000));
    }

    private static RequestState state(
            JobRequest request, String state, Optional<Waiting> waiting, long waited, List<String> notes) {
        return new RequestState(request, state, waiting, waited, LEASE, List.of(), notes);
    }
}
