/** Who may use the pool for bursts, now, on this worker's devices (docs/turns.md). */
@NullMarked
package dev.ullage.worker.turns;

import org.jspecify.annotations.NullMarked;
