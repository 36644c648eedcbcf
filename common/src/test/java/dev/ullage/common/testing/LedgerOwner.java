package dev.ullage.common.testing;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.LedgerCommand;
import dev.ullage.common.ledger.LedgerDecision;
import dev.ullage.common.ledger.LedgerEvent;
import java.util.ArrayList;
import java.util.List;

/** What a keeper is to a ledger, without anything around it: decides, applies, and remembers all events. */
public final class LedgerOwner {
    private final List<LedgerEvent> events = new ArrayList<>();
    private DeviceLedger ledger;

    private LedgerOwner(LedgerEvent first) {
        ledger = DeviceLedger.open(first);
        events.add(first);
    }

    public static LedgerOwner of(DeviceBuilder device) {
        return new LedgerOwner(device.opened());
    }

    /** Decides, applies, and returns what was decided. */
    public LedgerDecision on(LedgerCommand command) {
        LedgerDecision decision = ledger.decide(command);
        decision.events().forEach(event -> ledger = ledger.apply(event));
        events.addAll(decision.events());
        return decision;
    }

    public LedgerOwner after(LedgerCommand... commands) {
        for (LedgerCommand command : commands) {
            on(command);
        }
        return this;
    }

    public DeviceLedger ledger() {
        return ledger;
    }

    /** Everything that happened, the opening first. */
    public List<LedgerEvent> events() {
        return List.copyOf(events);
    }

    /** The ledger as a restart would find it: every event applied again. */
    public static DeviceLedger replayed(List<LedgerEvent> events) {
        DeviceLedger ledger = DeviceLedger.open(events.get(0));
        for (LedgerEvent event : events.subList(1, events.size())) {
            ledger = ledger.apply(event);
        }
        return ledger;
    }
}
