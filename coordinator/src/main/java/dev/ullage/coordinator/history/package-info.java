/** What devices and ranks looked like over the last minutes. Pure and soft. */
@NullMarked
package dev.ullage.coordinator.history;

import org.jspecify.annotations.NullMarked;
