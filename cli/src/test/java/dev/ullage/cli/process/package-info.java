/** The product as its users start it: real processes of the distribution, real launchers, real ranks. */
@NullMarked
package dev.ullage.cli.process;

import org.jspecify.annotations.NullMarked;
