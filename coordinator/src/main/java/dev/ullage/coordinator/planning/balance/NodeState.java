package dev.ullage.coordinator.planning.balance;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/** What is left on one node, to try placements on. A scratch: loaded, changed, loaded again. */
final class NodeState {
    int model;
    int cpu;
    int memory;
    int count;
    int[] left = new int[8];

    void load(PlacementBoard board, int node) {
        model = board.modelOf(node);
        cpu = board.cpuMilliOn(node);
        memory = board.memoryMebibytesOn(node);
        reserve(board.deviceCount(node));
        board.copyGrains(node, left);
    }

    void load(NodeState other) {
        model = other.model;
        cpu = other.cpu;
        memory = other.memory;
        reserve(other.count);
        System.arraycopy(other.left, 0, left, 0, count);
    }

    void set(int newCpu, int newModel, int[] from, int at, int devices) {
        model = newModel;
        cpu = newCpu;
        reserve(devices);
        System.arraycopy(from, at, left, 0, devices);
    }

    private void reserve(int devices) {
        count = devices;
        if (left.length < devices) {
            left = new int[devices];
        }
    }

    void sort() {
        Arrays.sort(left, 0, count);
    }

    long total() {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum += left[i];
        }
        return sum;
    }

    boolean hosts(RequestType type) {
        if (cpu < type.cpuMilli() || memory < type.memoryMebibytes() || !type.isAllowedOn(model)) {
            return false;
        }
        int fitting = 0;
        for (int i = 0; i < count; i++) {
            fitting += left[i] >= type.grains() ? 1 : 0;
        }
        return fitting >= type.devices();
    }

    /** Whether a device before this one has as much left, so that taking either comes to the same. */
    boolean hasEqualBefore(int device) {
        for (int i = 0; i < device; i++) {
            if (left[i] == left[device]) {
                return true;
            }
        }
        return false;
    }

    /** On a sorted state: takes the fullest devices that fit and keeps it sorted; false when there are too few. */
    boolean takeSorted(int devices, int grains) {
        int fit = 0;
        while (fit < count && left[fit] < grains) {
            fit++;
        }
        if (count - fit < devices) {
            return false;
        }
        for (int at = fit; at < fit + devices; at++) {
            int rest = left[at] - grains;
            int to = at;
            for (; to > 0 && left[to - 1] > rest; to--) {
                left[to] = left[to - 1];
            }
            left[to] = rest;
        }
        return true;
    }

    /**
     * The devices with the least left that still fit, ties to the lowest index: where a request for several goes, since
     * which ones it takes makes a difference only when they are not whole.
     */
    int[] fullestThatFit(int devices, int grains) {
        int[] chosen = new int[devices];
        boolean[] used = new boolean[count];
        for (int k = 0; k < devices; k++) {
            int best = -1;
            for (int i = 0; i < count; i++) {
                boolean fits = !used[i] && left[i] >= grains;
                best = fits && (best < 0 || left[i] < left[best]) ? i : best;
            }
            used[best] = true;
            chosen[k] = best;
        }
        Arrays.sort(chosen);
        return chosen;
    }

    /** The devices with the most left, ties to the lowest index. */
    int[] emptiest(int devices) {
        return IntStream.range(0, count)
                .boxed()
                .sorted(Comparator.comparingInt(i -> -left[i]))
                .limit(devices)
                .mapToInt(Integer::intValue)
                .sorted()
                .toArray();
    }

    void take(RequestType type, int[] devices) {
        cpu -= type.cpuMilli();
        memory -= type.memoryMebibytes();
        for (int device : devices) {
            left[device] -= type.grains();
        }
    }
}
