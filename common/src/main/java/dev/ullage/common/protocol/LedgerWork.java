package dev.ullage.common.protocol;

import java.util.List;

/**
 * What a device's ledger has done since its keeper started, by length and by rule.
 *
 * @param writes its writes, by how long they took
 * @param refusals what it refused, by rule; a rule that refused nothing is not there
 */
public record LedgerWork(WriteTimes writes, List<RefusalsByRule> refusals) {
    public LedgerWork {
        refusals = List.copyOf(refusals);
    }

    /**
     * Of all refusals those of one rule.
     *
     * @param rule by its name in the sender's ledger; a newer worker may have one that the receiver does not know
     */
    public record RefusalsByRule(String rule, long refusals) {}
}
