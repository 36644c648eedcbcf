@NullMarked
package dev.ullage.coordinator.planning.estimate;

import org.jspecify.annotations.NullMarked;
