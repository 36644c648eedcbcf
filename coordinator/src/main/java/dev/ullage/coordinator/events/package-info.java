/**
 * What happened, for people: found by comparing what the coordinator knew at one tick with what it knows at the next.
 */
@NullMarked
package dev.ullage.coordinator.events;

import org.jspecify.annotations.NullMarked;
