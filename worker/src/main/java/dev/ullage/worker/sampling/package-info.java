/** Reading the devices at a steady pace, and what the readings mean. */
@NullMarked
package dev.ullage.worker.sampling;

import org.jspecify.annotations.NullMarked;
