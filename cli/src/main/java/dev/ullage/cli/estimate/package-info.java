/** {@code ullage estimate}: reading models and measurements, and showing what the planner's estimate says. */
@NullMarked
package dev.ullage.cli.estimate;

import org.jspecify.annotations.NullMarked;
