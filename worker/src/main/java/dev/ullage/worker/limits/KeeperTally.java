package dev.ullage.worker.limits;

import dev.ullage.common.ledger.Refusal;
import dev.ullage.common.protocol.KeeperCounts;
import dev.ullage.common.protocol.LedgerWork;
import dev.ullage.common.protocol.LedgerWork.RefusalsByRule;
import dev.ullage.common.protocol.ReportNumber;
import dev.ullage.common.protocol.WriteTimes;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/** What one keeper counts. Soft: a new keeper begins at 0. */
final class KeeperTally {
    private final Map<Refusal.Reason, Long> refusals = new EnumMap<>(Refusal.Reason.class);
    private final long since;
    private long reports;
    private long ordersSent;
    private long ordersRepeated;
    private long confirmations;

    /** @param now when the keeper starts */
    KeeperTally(Instant now) {
        this.since = now.toEpochMilli();
    }

    /** Of the report that is about to be made. */
    ReportNumber number() {
        return new ReportNumber(since, ++reports);
    }

    void sent() {
        ordersSent++;
    }

    void repeated() {
        ordersRepeated++;
    }

    void confirmed(long times) {
        confirmations += times;
    }

    void refused(Refusal.Reason rule) {
        refusals.merge(rule, 1L, Long::sum);
    }

    KeeperCounts counts(PromiseAudit audit, WriteTimes writes) {
        return new KeeperCounts(
                ordersSent,
                ordersRepeated,
                confirmations,
                refusals.values().stream().mapToLong(Long::longValue).sum(),
                audit.highest(),
                audit.overCommits(),
                Optional.of(new LedgerWork(
                        writes,
                        refusals.entrySet().stream()
                                .map(refused ->
                                        new RefusalsByRule(refused.getKey().name(), refused.getValue()))
                                .toList())));
    }
}
