/** One out-of-memory error, one decision for the whole job. Pure. */
@NullMarked
package dev.ullage.coordinator.oom;

import org.jspecify.annotations.NullMarked;
