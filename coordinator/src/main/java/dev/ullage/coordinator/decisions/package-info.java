/** What the coordinator decided and from what, and whether it would decide the same again. Pure. */
@NullMarked
package dev.ullage.coordinator.decisions;

import org.jspecify.annotations.NullMarked;
