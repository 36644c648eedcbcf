/** What the ledger costs: per command and per record. Run with {@code bench/ledger.sh}. */
@NullMarked
package dev.ullage.bench;

import org.jspecify.annotations.NullMarked;
