/** What a monitoring system scrapes: the cluster's status as metrics. The names are listed in docs/metrics.md. */
@NullMarked
package dev.ullage.coordinator.metrics;

import org.jspecify.annotations.NullMarked;
