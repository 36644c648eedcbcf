package dev.ullage.bench;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.LedgerCommand;
import dev.ullage.common.ledger.LedgerCommand.DesiredLimit;
import dev.ullage.common.ledger.LedgerDecision;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.ledger.Order;
import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import java.util.List;
import java.util.stream.IntStream;

/** A device with so many ranks, and the commands that change it. */
final class BenchRanks {
    private static final CoordinatorToken TOKEN = new CoordinatorToken(1, "bench");
    private static final MemoryBytes CAPACITY = MemoryBytes.ofGibibytes(80);
    private static final Share RESERVE = Share.ofPercent(20);

    private final int count;

    BenchRanks(int count) {
        this.count = count;
    }

    static LedgerEvent opened() {
        return new LedgerEvent.Opened(new DeviceId("GPU-bench"), new BudgetTerms(CAPACITY, RESERVE, MemoryBytes.ZERO));
    }

    RankInstance rank(int number) {
        return new RankInstance(new RankId(new JobId("bench"), number), number + 1L, 1);
    }

    /** All ranks joined, each with a confirmed limit of its fair share. */
    DeviceLedger settled() {
        DeviceLedger ledger = DeviceLedger.open(opened());
        for (int i = 0; i < count; i++) {
            ledger = applied(ledger, ledger.decide(new LedgerCommand.Join(rank(i), 0, MemoryBytes.ZERO)));
        }
        LedgerDecision plan = ledger.decide(plan(Share.ALL));
        ledger = applied(ledger, plan);
        for (Order order : plan.orders()) {
            ledger = applied(ledger, ledger.decide(confirm(order)));
        }
        return ledger;
    }

    /** A plan that gives each rank that part of its fair share. */
    LedgerCommand.Desire plan(Share part) {
        MemoryBytes fair = CAPACITY.times(RESERVE.complement()).dividedBy(count).times(part);
        List<DesiredLimit> limits = IntStream.range(0, count)
                .mapToObj(i -> new DesiredLimit(rank(i), PhaseLimits.uniform(fair), Share.ALL))
                .toList();
        return new LedgerCommand.Desire(TOKEN, RESERVE, limits);
    }

    static LedgerCommand.Confirm confirm(Order order) {
        return new LedgerCommand.Confirm(
                order.instance(), order.sequence(), order.limits().max());
    }

    static DeviceLedger applied(DeviceLedger ledger, LedgerDecision decision) {
        return ledger.apply(decision.events());
    }
}
