/** How evenly ranks and devices are used, what would even them out, and when to say or order that. Pure. */
@NullMarked
package dev.ullage.coordinator.evenness;

import org.jspecify.annotations.NullMarked;
