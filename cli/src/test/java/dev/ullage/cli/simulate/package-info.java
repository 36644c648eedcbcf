/** Tests of the parts of {@code ullage simulate}. */
@NullMarked
package dev.ullage.cli.simulate;

import org.jspecify.annotations.NullMarked;
