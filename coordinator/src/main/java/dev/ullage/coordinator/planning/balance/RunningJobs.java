package dev.ullage.coordinator.planning.balance;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What runs on a board, until when, and the room that this leaves by a {@link SharingRule}. The single owner of the
 * board's room: nobody else takes any. Mutable, with a single owner itself.
 */
public final class RunningJobs {
    private final PlacementBoard board;
    private final SharingRule rule;
    private final List<List<RunningJob>> onNode = new ArrayList<>();
    private final long[] firstEnd;

    /** @param board with what may be given when nothing runs */
    public RunningJobs(PlacementBoard board, SharingRule rule) {
        this.board = board;
        this.rule = rule;
        firstEnd = new long[board.nodeCount()];
        for (int node = 0; node < firstEnd.length; node++) {
            onNode.add(new ArrayList<>());
            firstEnd[node] = Long.MAX_VALUE;
        }
    }

    public PlacementBoard board() {
        return board;
    }

    /** Room that a job will have: all that ends by then has ended. */
    record Opening(int node, long at) {}

    void start(RunningJob started) {
        board.take(started.job().request(), started.placed());
        onNode.get(started.placed().node()).add(started);
        settle(started);
    }

    void end(RunningJob ended) {
        if (!onNode.get(ended.placed().node()).remove(ended)) {
            throw new IllegalStateException("does not run: " + ended);
        }
        board.giveBack(ended.job().request(), ended.placed());
        settle(ended);
    }

    private void settle(RunningJob changed) {
        int node = changed.placed().node();
        for (int device : changed.placed().devices()) {
            board.setGrains(node, device, left(node, device, Long.MIN_VALUE, null));
        }
        long first = Long.MAX_VALUE;
        for (RunningJob running : onNode.get(node)) {
            first = Math.min(first, running.endsAt().orElse(Long.MAX_VALUE));
        }
        firstEnd[node] = first;
    }

    private int left(int node, int device, long time, @Nullable RunningJob also) {
        List<Integer> shares = new ArrayList<>();
        for (RunningJob running : onNode.get(node)) {
            addShare(shares, running, device, time);
        }
        if (also != null) {
            addShare(shares, also, device, time);
        }
        return rule.left(board.grainsAtFirst(node, device), shares);
    }

    private void addShare(List<Integer> shares, RunningJob running, int device, long time) {
        if (running.runsAfter(time) && running.placed().devices().contains(device)) {
            shares.add(board.typeOf(running.job().request()).grains());
        }
    }

    /** Whether the node has room for one when all has ended there that ends by this time, with one more job started. */
    boolean fitsAt(int node, RequestType type, long time, @Nullable RunningJob also) {
        if (!board.allows(node, type)) {
            return false;
        }
        long cpu = board.node(node).cpuMilli() - (long) type.cpuMilli();
        long memory = board.memoryMebibytesAtFirst(node) - (long) type.memoryMebibytes();
        for (RunningJob running : onNode.get(node)) {
            cpu -= running.runsAfter(time) ? running.job().request().cpuMilli() : 0;
            memory -= running.runsAfter(time)
                    ? board.typeOf(running.job().request()).memoryMebibytes()
                    : 0;
        }
        if (also != null && also.runsAfter(time)) {
            cpu -= also.job().request().cpuMilli();
            memory -= board.typeOf(also.job().request()).memoryMebibytes();
        }
        if (cpu < 0 || memory < 0) {
            return false;
        }
        int fitting = 0;
        for (int device = 0; device < board.deviceCount(node) && fitting < type.devices(); device++) {
            fitting += left(node, device, time, also) >= type.grains() ? 1 : 0;
        }
        return fitting >= type.devices();
    }

    /** Whether one would fit if nothing ran; a job for which this is false never starts. */
    public boolean canEverHost(PlacementRequest request) {
        RequestType type = board.typeOf(request);
        for (int node = 0; node < board.nodeCount(); node++) {
            if (fitsAt(node, type, Long.MAX_VALUE - 1, null)) {
                return true;
            }
        }
        return false;
    }

    /** The earliest that a node has room, ties to the first; empty when no known end makes any. */
    Optional<Opening> earliest(RequestType type) {
        long at = Long.MAX_VALUE;
        int best = -1;
        for (int node = 0; node < board.nodeCount(); node++) {
            if (firstEnd[node] < at && fitsAt(node, type, at - 1, null)) {
                at = earliestOn(node, type);
                best = node;
            }
        }
        return best < 0 ? Optional.empty() : Optional.of(new Opening(best, at));
    }

    private long earliestOn(int node, RequestType type) {
        return onNode.get(node).stream()
                .flatMapToLong(running -> running.endsAt().stream())
                .sorted()
                .filter(end -> fitsAt(node, type, end, null))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no known end makes room on node " + node));
    }

    /** How many jobs on the node are known to end by then. */
    int endingBy(int node, long time) {
        return (int) onNode.get(node).stream()
                .filter(running -> !running.runsAfter(time))
                .count();
    }
}
