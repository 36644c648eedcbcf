/**
 * Where numbers about devices come from: NVML, or a simulation that was asked for by name. Adapters at the edge; the
 * parsing, checking and resolving classes beside them are pure.
 */
@NullMarked
package dev.ullage.worker.probe;

import org.jspecify.annotations.NullMarked;
