/** Typed, validated settings: read once, every problem reported at once, with where it was set. */
@NullMarked
package dev.ullage.config;

import org.jspecify.annotations.NullMarked;
