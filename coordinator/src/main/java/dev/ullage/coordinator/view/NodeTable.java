package dev.ullage.coordinator.view;

import dev.ullage.common.model.NodeId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The nodes in the order of their names. Each message makes a view with another value for one of them, and nodes seldom
 * come and go: so putting one in copies references, and nothing is built or compared anew. Immutable.
 */
final class NodeTable {
    static final NodeTable EMPTY = new NodeTable(List.of(), List.of());

    private final List<NodeId> keys;
    private final List<NodeView> values;

    /** @param keys of the values, ascending; neither is changed any more */
    private NodeTable(List<NodeId> keys, List<NodeView> values) {
        this.keys = keys;
        this.values = values;
    }

    Optional<NodeView> get(NodeId node) {
        int index = Collections.binarySearch(keys, node);
        return index < 0 ? Optional.empty() : Optional.of(values.get(index));
    }

    NodeTable with(NodeView node) {
        int index = Collections.binarySearch(keys, node.node());
        List<NodeView> changed = new ArrayList<>(values);
        if (index >= 0) {
            changed.set(index, node);
            return new NodeTable(keys, changed);
        }
        List<NodeId> more = new ArrayList<>(keys);
        more.add(-index - 1, node.node());
        changed.add(-index - 1, node);
        return new NodeTable(more, changed);
    }

    NodeTable without(Predicate<NodeView> isGone) {
        List<NodeView> rest = new ArrayList<>(values);
        rest.removeIf(isGone);
        return new NodeTable(rest.stream().map(NodeView::node).toList(), rest);
    }

    List<NodeView> values() {
        return Collections.unmodifiableList(values);
    }
}
