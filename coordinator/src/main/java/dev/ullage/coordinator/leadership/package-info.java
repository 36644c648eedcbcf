/** Claiming, learning and losing the right to plan. Pure. */
@NullMarked
package dev.ullage.coordinator.leadership;

import org.jspecify.annotations.NullMarked;
