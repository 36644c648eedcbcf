/** Quantities, names and immutable facts. Pure: depends on nothing but the JDK. */
@NullMarked
package dev.ullage.common.model;

import org.jspecify.annotations.NullMarked;
