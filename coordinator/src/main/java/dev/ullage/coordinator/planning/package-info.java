/** From what is known and wished to limits: policies choose, guards veto, both explain. Pure. */
@NullMarked
package dev.ullage.coordinator.planning;

import org.jspecify.annotations.NullMarked;
