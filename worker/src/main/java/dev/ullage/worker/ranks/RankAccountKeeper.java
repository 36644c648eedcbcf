package dev.ullage.worker.ranks;

import dev.ullage.common.model.RankAccount;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.RankAccounts;
import dev.ullage.worker.watch.AccountBook;
import java.nio.file.Path;
import java.time.Clock;

/**
 * What the ranks of this worker have come to, and had when they ended: in memory, and the last of them in a file that
 * the next start of the worker reads. For the hub's thread.
 */
public final class RankAccountKeeper implements AutoCloseable {
    static final String FILE_NAME = "accounts.jsonl";

    private final AccountBook book = new AccountBook();
    private final AccountFile file;
    private final Clock clock;

    /** @param folder of the worker's state */
    public RankAccountKeeper(Path folder, Clock clock) {
        this.clock = clock;
        this.file = new AccountFile(folder.resolve(FILE_NAME), clock);
        book.remember(file.load(), clock.instant());
    }

    void heard(RankAccount account) {
        book.heard(account, clock.instant());
    }

    void left(RankInstance instance) {
        book.left(instance, clock.instant()).ifPresent(file::add);
    }

    /** The next few to be told. */
    RankAccounts next() {
        return new RankAccounts(book.next(clock.instant()));
    }

    /** Writes what waits to be written. */
    @Override
    public void close() {
        file.close();
    }
}
