/** {@code ullage replay}: recorded decisions through the planner again. */
@NullMarked
package dev.ullage.cli.replay;

import org.jspecify.annotations.NullMarked;
