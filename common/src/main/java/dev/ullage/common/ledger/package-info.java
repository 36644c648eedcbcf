/**
 * The promises made on one device, and the rules for changing them. Pure: commands in, a {@code LedgerDecision} out,
 * and {@code DeviceLedger.apply} as the only mutator. docs/architecture.md, "The one invariant".
 */
@NullMarked
package dev.ullage.common.ledger;

import org.jspecify.annotations.NullMarked;
