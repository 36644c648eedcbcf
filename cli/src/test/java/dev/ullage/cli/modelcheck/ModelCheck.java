package dev.ullage.cli.modelcheck;

import dev.ullage.cli.modelcheck.SmallWorld.Bounds;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Breadth first through all states of a small world, each once by its text; then backwards from the states at rest. */
final class ModelCheck {
    private final Map<String, Integer> numbers = new LinkedHashMap<>();
    private final Deque<State> frontier = new ArrayDeque<>();
    private final List<int[]> successors = new ArrayList<>();
    private final BitSet atRest = new BitSet();
    private Optional<String> broken = Optional.empty();

    private ModelCheck() {}

    /**
     * What was found.
     *
     * @param broken the first state that breaks a promise, where the search then ended
     * @param stuck states from which the last plan can never be in force
     */
    record Result(int states, long steps, int atRest, Optional<String> broken, List<String> stuck) {}

    static Result run(Bounds bounds) {
        return run(SmallWorld.initial(bounds));
    }

    static Result run(State initial) {
        ModelCheck check = new ModelCheck();
        check.explore(initial);
        return new Result(
                check.numbers.size(),
                check.successors.stream().mapToLong(next -> next.length).sum(),
                check.atRest.cardinality(),
                check.broken,
                check.broken.isPresent() ? List.of() : check.stuck());
    }

    private void explore(State initial) {
        number(initial);
        while (!frontier.isEmpty() && broken.isEmpty()) {
            State world = frontier.removeFirst();
            successors.add(
                    world.next().stream().mapToInt(this::number).distinct().toArray());
        }
    }

    private int number(State world) {
        String text = world.encoded();
        Integer known = numbers.get(text);
        if (known != null) {
            return known;
        }
        world.broken().ifPresent(why -> broken = Optional.of(why + ": " + text));
        int number = numbers.size();
        numbers.put(text, number);
        frontier.addLast(world);
        if (world.isAtRest()) {
            atRest.set(number);
        }
        return number;
    }

    /** The states from which no state at rest can be reached. */
    private List<String> stuck() {
        int[][] predecessors = predecessors();
        BitSet reaches = (BitSet) atRest.clone();
        Deque<Integer> open = new ArrayDeque<>();
        atRest.stream().forEach(open::add);
        while (!open.isEmpty()) {
            for (int before : predecessors[open.removeFirst()]) {
                if (!reaches.get(before)) {
                    reaches.set(before);
                    open.add(before);
                }
            }
        }
        return numbers.entrySet().stream()
                .filter(entry -> !reaches.get(entry.getValue()))
                .map(Map.Entry::getKey)
                .toList();
    }

    private int[][] predecessors() {
        int[] counts = new int[numbers.size()];
        successors.forEach(next -> Arrays.stream(next).forEach(to -> counts[to]++));
        int[][] predecessors = new int[numbers.size()][];
        Arrays.setAll(predecessors, i -> new int[counts[i]]);
        for (int from = 0; from < successors.size(); from++) {
            for (int to : successors.get(from)) {
                predecessors[to][--counts[to]] = from;
            }
        }
        return predecessors;
    }
}
