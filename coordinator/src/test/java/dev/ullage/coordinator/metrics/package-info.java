/** Tests of the metrics. */
@NullMarked
package dev.ullage.coordinator.metrics;

import org.jspecify.annotations.NullMarked;
