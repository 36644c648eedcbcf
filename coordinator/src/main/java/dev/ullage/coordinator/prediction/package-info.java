/** Which predictors this installation has. */
@NullMarked
package dev.ullage.coordinator.prediction;

import org.jspecify.annotations.NullMarked;
