package dev.ullage.common.protocol;

import dev.ullage.common.model.RankAccount;
import java.util.List;

/** Some of the accounts that a worker keeps of its ranks, those that live and the last that ended; others follow. */
public record RankAccounts(List<RankAccount> accounts) {
    public RankAccounts {
        accounts = List.copyOf(accounts);
    }
}
