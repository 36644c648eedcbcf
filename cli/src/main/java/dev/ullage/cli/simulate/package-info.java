/** {@code ullage simulate}: reads a trace, replays it through the placement policies, shows what came of it. */
@NullMarked
package dev.ullage.cli.simulate;

import org.jspecify.annotations.NullMarked;
