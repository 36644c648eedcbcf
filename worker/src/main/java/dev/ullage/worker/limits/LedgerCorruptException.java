package dev.ullage.worker.limits;

import java.io.IOException;
import java.nio.file.Path;

/** A ledger file that cannot be trusted: refused loudly, because guessing could break a promise. */
public final class LedgerCorruptException extends IOException {
    private static final long serialVersionUID = 1L;

    LedgerCorruptException(Path file, long offset, String what) {
        super("ledger file " + file + " is corrupt at byte " + offset + ": " + what
                + ". It was left untouched. Stop the ranks on this device, move the file away and start again:"
                + " ranks that still run then report what they hold.");
    }
}
