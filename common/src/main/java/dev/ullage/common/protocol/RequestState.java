package dev.ullage.common.protocol;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Where a job's request stands.
 *
 * @param state {@code waiting}, {@code placing}, {@code placed}, {@code requeued} (what runs is to end, then it waits
 *     again), {@code cancelled}, {@code ended} (by its submitter's word), or {@code lost} (it runs, and nothing is
 *     reserved for it); a text, so that an older node can pass on what it does not know
 * @param waiting present while it waits or is being placed
 * @param waitedMillis since it was submitted, or put to the end of the queue
 * @param leaseMillis how long it stays known when its submitter says nothing more
 * @param ranks where they are, in the order of their numbers; empty until it is placed
 * @param notes what its submitter should know, one sentence each
 */
public record RequestState(
        JobRequest request,
        String state,
        Optional<Waiting> waiting,
        long waitedMillis,
        long leaseMillis,
        List<RankPlace> ranks,
        List<String> notes) {
    public static final String WAITING = "waiting";
    public static final String PLACING = "placing";
    public static final String PLACED = "placed";
    public static final String REQUEUED = "requeued";
    public static final String CANCELLED = "cancelled";
    public static final String ENDED = "ended";
    public static final String LOST = "lost";

    public RequestState {
        ranks = List.copyOf(ranks);
        notes = List.copyOf(notes);
    }

    /**
     * @param position 1 for the first; empty while it is being placed
     * @param waitsFor in words
     * @param startsInMillis empty when nothing is known that makes room for it
     * @param basis what that rests on, or why there is none
     */
    public record Waiting(OptionalInt position, String waitsFor, OptionalLong startsInMillis, String basis) {}

    /** @param index of the device on its node, for people; empty while its node is not heard */
    public record RankPlace(
            int rank, NodeId node, int localRank, DeviceId device, OptionalInt index, MemoryBytes amount) {}
}
