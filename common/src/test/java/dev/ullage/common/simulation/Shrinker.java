package dev.ullage.common.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** Finds a small part of a list that still fails: delta debugging. Deterministic. */
public final class Shrinker {
    private Shrinker() {}

    /**
     * A sublist that fails and of which no single element can be left out, unless the tries ran out before.
     *
     * @param failing fails as a whole
     * @param maxTries how often {@code fails} may be asked
     */
    public static <T> List<T> shrink(List<T> failing, Predicate<List<T>> fails, int maxTries) {
        List<T> smallest = List.copyOf(failing);
        int parts = 2;
        int tries = 0;
        while (!smallest.isEmpty() && tries < maxTries) {
            int size = Math.max(1, (smallest.size() + parts - 1) / parts);
            boolean reduced = false;
            for (int start = 0; start < smallest.size() && !reduced && tries < maxTries; start += size) {
                List<T> rest = without(smallest, start, Math.min(smallest.size(), start + size));
                tries++;
                if (fails.test(rest)) {
                    smallest = rest;
                    parts = Math.max(2, parts - 1);
                    reduced = true;
                }
            }
            if (!reduced && size == 1) {
                return smallest;
            }
            parts = reduced ? parts : Math.min(smallest.size(), parts * 2);
        }
        return smallest;
    }

    private static <T> List<T> without(List<T> list, int from, int to) {
        List<T> rest = new ArrayList<>(list.subList(0, from));
        rest.addAll(list.subList(to, list.size()));
        return List.copyOf(rest);
    }
}
