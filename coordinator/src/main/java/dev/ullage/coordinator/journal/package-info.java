/** Decisions as lines of JSON, and the bounded file that they are kept in. */
@NullMarked
package dev.ullage.coordinator.journal;

import org.jspecify.annotations.NullMarked;
