/** Typed, validated settings. A value of one of these types is always within its rules. */
@NullMarked
package dev.ullage.config;

import org.jspecify.annotations.NullMarked;
