/** What the coordinator knows of the cluster. Pure: immutable, no clock, no logging, defined order. */
@NullMarked
package dev.ullage.coordinator.view;

import org.jspecify.annotations.NullMarked;
