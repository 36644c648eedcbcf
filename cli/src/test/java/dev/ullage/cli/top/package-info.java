/** {@code ullage top}: the cluster live in a terminal. */
@NullMarked
package dev.ullage.cli.top;

import org.jspecify.annotations.NullMarked;
