package dev.ullage.worker.limits;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A ledger file that a newer version wrote, with promises in it that this one cannot understand. Nothing is damaged.
 */
public final class LedgerNewerException extends IOException {
    private static final long serialVersionUID = 1L;

    /** @param what the event, or the value in one */
    LedgerNewerException(Path file, long offset, String what) {
        super("ledger file " + file + " was written by a newer version of Ullage: the record at byte " + offset
                + " has \"" + what + "\" in it, which this one does not know. It was left untouched. Start the"
                + " newer version again. To go back to this one, stop the newer worker in order (SIGTERM): it then"
                + " leaves a file that this version can read; see \"Upgrading\" in docs/operations.md");
    }
}
