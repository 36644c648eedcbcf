/** Tests of who gets room for all of its ranks. */
@NullMarked
package dev.ullage.coordinator.admission;

import org.jspecify.annotations.NullMarked;
