/** The mechanisms that hold a rank to its limit from outside it: what touches files, processes and drivers. */
@NullMarked
package dev.ullage.worker.rungs;

import org.jspecify.annotations.NullMarked;
