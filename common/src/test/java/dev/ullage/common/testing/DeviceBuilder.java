package dev.ullage.common.testing;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;
import java.util.Optional;

/** A device for a test: 100 GiB, a fifth of it reserved, no strangers on it, unless said otherwise. */
public final class DeviceBuilder {
    private DeviceId id = new DeviceId("GPU-a");
    private int index;
    private BudgetTerms terms = new BudgetTerms(MemoryBytes.ofGibibytes(100), Share.ofPercent(20), MemoryBytes.ZERO);

    private DeviceBuilder() {}

    public static DeviceBuilder aDevice() {
        return new DeviceBuilder();
    }

    public DeviceBuilder withId(String newId) {
        id = new DeviceId(newId);
        return this;
    }

    public DeviceBuilder withIndex(int newIndex) {
        index = newIndex;
        return this;
    }

    public DeviceBuilder withCapacity(MemoryBytes allocatable) {
        terms = terms.withMeasured(allocatable, terms.foreign());
        return this;
    }

    public DeviceBuilder withReserve(Share reserve) {
        terms = terms.withReserve(reserve);
        return this;
    }

    public DeviceBuilder withForeign(MemoryBytes foreign) {
        terms = terms.withMeasured(terms.allocatable(), foreign);
        return this;
    }

    public BudgetTerms terms() {
        return terms;
    }

    public DeviceInfo info() {
        return new DeviceInfo(id, index, "SIM-100G", DeviceKind.SIMULATED, Optional.empty());
    }

    /** The first event of its ledger. */
    public LedgerEvent.Opened opened() {
        return new LedgerEvent.Opened(id, terms);
    }

    /** Its ledger without any promise. */
    public DeviceLedger ledger() {
        return DeviceLedger.open(opened());
    }
}
