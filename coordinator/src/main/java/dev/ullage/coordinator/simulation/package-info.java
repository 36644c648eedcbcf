/** Replays a trace of jobs through the placement policies, in virtual time. Pure. */
@NullMarked
package dev.ullage.coordinator.simulation;

import org.jspecify.annotations.NullMarked;
