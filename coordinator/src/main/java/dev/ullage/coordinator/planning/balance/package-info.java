/**
 * Where a job goes: which node and which devices get a request for shares of devices, in thousandths of a device or in
 * bytes. Policies choose on a {@link dev.ullage.coordinator.planning.balance.PlacementBoard} and explain themselves;
 * they place nothing. Pure.
 */
@NullMarked
package dev.ullage.coordinator.planning.balance;

import org.jspecify.annotations.NullMarked;
