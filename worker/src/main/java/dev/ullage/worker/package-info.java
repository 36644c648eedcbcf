/** A worker: measures the devices of one host and owns the promises made on them. */
@NullMarked
package dev.ullage.worker;

import org.jspecify.annotations.NullMarked;
