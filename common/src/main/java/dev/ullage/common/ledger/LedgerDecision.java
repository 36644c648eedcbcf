package dev.ullage.common.ledger;

import java.util.List;

/**
 * What a command comes to. The caller appends the events, applies them, and only then sends the orders.
 *
 * @param events what happened, in order; empty when nothing changed
 * @param orders what the ranks are to be told, shrinks before grows
 * @param refusals what was asked for and not done, each with its numbers
 */
public record LedgerDecision(List<LedgerEvent> events, List<Order> orders, List<Refusal> refusals) {
    public LedgerDecision {
        events = List.copyOf(events);
        orders = List.copyOf(orders);
        refusals = List.copyOf(refusals);
    }
}
