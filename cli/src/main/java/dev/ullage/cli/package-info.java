/** The {@code ullage} command. */
@NullMarked
package dev.ullage.cli;

import org.jspecify.annotations.NullMarked;
