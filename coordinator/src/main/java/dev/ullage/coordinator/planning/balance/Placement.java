package dev.ullage.coordinator.planning.balance;

import java.util.List;

/** What a policy chose for a request. */
public sealed interface Placement {

    /** Why, in one sentence. */
    String reason();

    /**
     * @param node position on the board
     * @param nodeName its name
     * @param devices positions on the node, ascending
     */
    record Placed(int node, String nodeName, List<Integer> devices, Why why) implements Placement {
        public Placed {
            devices = List.copyOf(devices);
        }

        @Override
        public String reason() {
            return "%s, devices %s: %s".formatted(nodeName, devices, why.text());
        }
    }

    /** @param why which bound held on how many nodes */
    record Refused(Why why) implements Placement {
        @Override
        public String reason() {
            return why.text();
        }
    }

    /** Made into words only when somebody reads it: a decision takes microseconds, a sentence takes more. */
    interface Why {
        String text();
    }
}
