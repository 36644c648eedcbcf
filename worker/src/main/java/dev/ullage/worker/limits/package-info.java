/** The owner of each device's promises: the keeper around the pure ledger, its file, and the audit that checks both. */
@NullMarked
package dev.ullage.worker.limits;

import org.jspecify.annotations.NullMarked;
