@NullMarked
package dev.ullage.coordinator.report;

import org.jspecify.annotations.NullMarked;
