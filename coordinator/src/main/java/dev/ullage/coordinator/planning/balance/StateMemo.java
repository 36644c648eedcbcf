package dev.ullage.coordinator.planning.balance;

import java.util.Arrays;
import java.util.function.ToDoubleFunction;

/**
 * Values of node states that were worked out already, by (processor left, model, devices' rooms in ascending order).
 * Open addressing over flat arrays: tens of thousands of states a run, looked up millions of times. When it is full it
 * starts anew, which costs time and changes no value.
 */
final class StateMemo {
    private static final int MAX_STATES = 1 << 20;
    private static final long MIX = 0x9E3779B97F4A7C15L;

    private int[] slots = new int[1 << 12];
    private int[] keys = new int[1 << 14];
    private double[] values = new double[1 << 11];
    private int[] starts = new int[1 << 11];
    private int states;

    void clear() {
        Arrays.fill(slots, 0);
        states = 0;
    }

    /** @param state sorted; not changed */
    double get(NodeState state, ToDoubleFunction<NodeState> workOut) {
        int slot = slotOf(state);
        if (slots[slot] != 0) {
            return values[slots[slot] - 1];
        }
        double value = workOut.applyAsDouble(state);
        add(state, slot, value);
        return value;
    }

    private int slotOf(NodeState state) {
        int mask = slots.length - 1;
        int slot = (int) hash(state) & mask;
        while (slots[slot] != 0 && !equal(slots[slot] - 1, state)) {
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    private static long hash(NodeState state) {
        long hash = (state.cpu * MIX + state.model) * MIX;
        for (int i = 0; i < state.count; i++) {
            hash = (hash ^ (hash >>> 29)) * MIX + state.left[i];
        }
        hash *= MIX;
        return hash ^ (hash >>> 32);
    }

    private boolean equal(int index, NodeState state) {
        int at = starts[index];
        return keys[at] == state.cpu
                && keys[at + 1] == state.model
                && keys[at + 2] == state.count
                && Arrays.equals(keys, at + 3, at + 3 + state.count, state.left, 0, state.count);
    }

    private void add(NodeState state, int slot, double value) {
        if (states >= MAX_STATES) {
            clear();
            add(state, slotOf(state), value);
            return;
        }
        int at = states == 0 ? 0 : starts[states - 1] + 3 + keys[starts[states - 1] + 2];
        if (at + 3 + state.count > keys.length) {
            keys = Arrays.copyOf(keys, 2 * (at + 3 + state.count));
        }
        if (states == values.length) {
            values = Arrays.copyOf(values, 2 * states);
            starts = Arrays.copyOf(starts, 2 * states);
        }
        keys[at] = state.cpu;
        keys[at + 1] = state.model;
        keys[at + 2] = state.count;
        System.arraycopy(state.left, 0, keys, at + 3, state.count);
        starts[states] = at;
        values[states] = value;
        states++;
        slots[slot] = states;
        if (states * 2 > slots.length) {
            grow();
        }
    }

    private void grow() {
        slots = new int[slots.length * 2];
        NodeState state = new NodeState();
        for (int index = 0; index < states; index++) {
            int at = starts[index];
            state.set(keys[at], keys[at + 1], keys, at + 3, keys[at + 2]);
            slots[slotOf(state)] = index + 1;
        }
    }
}
