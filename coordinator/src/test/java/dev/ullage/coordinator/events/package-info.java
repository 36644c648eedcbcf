@NullMarked
package dev.ullage.coordinator.events;

import org.jspecify.annotations.NullMarked;
