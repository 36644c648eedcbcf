/** What jobs have come to, while they run and after: memory, compute and cost (docs/report.md). */
@NullMarked
package dev.ullage.coordinator.report;

import org.jspecify.annotations.NullMarked;
