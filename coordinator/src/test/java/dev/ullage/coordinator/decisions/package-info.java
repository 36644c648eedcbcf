@NullMarked
package dev.ullage.coordinator.decisions;

import org.jspecify.annotations.NullMarked;
