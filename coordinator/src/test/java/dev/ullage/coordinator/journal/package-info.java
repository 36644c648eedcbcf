@NullMarked
package dev.ullage.coordinator.journal;

import org.jspecify.annotations.NullMarked;
