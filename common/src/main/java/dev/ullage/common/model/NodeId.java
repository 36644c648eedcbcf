package dev.ullage.common.model;

/**
 * A worker's or coordinator's name in the cluster; stable over restarts of its process.
 *
 * @param value not blank, at most {@value #MAX_LENGTH} characters, none of them a control character
 */
public record NodeId(String value) implements Comparable<NodeId> {
    public static final int MAX_LENGTH = 200;

    public NodeId {
        Names.requireName("a node's name", value, MAX_LENGTH);
    }

    @Override
    public int compareTo(NodeId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
