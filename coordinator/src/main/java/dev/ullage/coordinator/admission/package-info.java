/**
 * Which jobs get room for all of their ranks, and which wait for it: requests, the queue, and the attempts to place
 * one. Decides only; all of its state is soft, said again by who submitted, and by the ledgers.
 */
@NullMarked
package dev.ullage.coordinator.admission;

import org.jspecify.annotations.NullMarked;
