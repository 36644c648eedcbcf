/**
 * Messages between worker and coordinator (docs/protocol.md, section 2): sealed records, absolute values, idempotent,
 * additive changes only.
 */
@NullMarked
package dev.ullage.common.protocol;

import org.jspecify.annotations.NullMarked;
