/** How far each device has come on the way from a plan to limits in force. Pure. */
@NullMarked
package dev.ullage.coordinator.rollout;

import org.jspecify.annotations.NullMarked;
