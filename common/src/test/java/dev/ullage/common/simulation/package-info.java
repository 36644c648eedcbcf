/**
 * The kit for deterministic simulations: dice, virtual time, network, disk, trace and shrinker. Everything follows from
 * a seed; nothing here knows what is simulated, but for {@code ClientModel}, the rank client's state machine in Java.
 */
@NullMarked
package dev.ullage.common.simulation;

import org.jspecify.annotations.NullMarked;
