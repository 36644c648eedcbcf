@NullMarked
package dev.ullage.coordinator.http;

import org.jspecify.annotations.NullMarked;
