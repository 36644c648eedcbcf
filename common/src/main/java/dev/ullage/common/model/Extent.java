package dev.ullage.common.model;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** On how many nodes the ranks of a job may or must be. */
public enum Extent {
    /** On one, or not at all. */
    SAME_NODE,
    /** On one when one has the room, else on as few as come out when each takes as many as it can. */
    FEW_NODES,
    /** One device at a time, each on the node that is used least. */
    SPREAD;

    /** As people write it: {@code same-node}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public static Optional<Extent> of(String label) {
        return Arrays.stream(values())
                .filter(extent -> extent.label().equals(label))
                .findFirst();
    }

    @Override
    public String toString() {
        return label();
    }
}
