/**
 * What a rank will use next, from what it used: limits that are seldom too low, and forecasts. Pure; one object holds
 * the state of one series.
 */
@NullMarked
package dev.ullage.coordinator.planning.predict;

import org.jspecify.annotations.NullMarked;
