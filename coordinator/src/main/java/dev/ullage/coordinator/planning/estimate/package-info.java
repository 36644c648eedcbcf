/**
 * What training will need before it runs: from model, scheme and layout to bytes per rank, phase and kind. Pure.
 *
 * <p>Inside, amounts are {@code double}: a coefficient is often a fraction (4.5 bits a weight, a tenth of slack), and
 * only the end result is rounded, down, to whole bytes. No result of this package is a limit that a rank is held to.
 */
@NullMarked
package dev.ullage.coordinator.planning.estimate;

import org.jspecify.annotations.NullMarked;
