@NullMarked
package dev.ullage.coordinator.evenness;

import org.jspecify.annotations.NullMarked;
