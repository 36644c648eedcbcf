/** The core of the protocol, searched through completely in a small world. docs/protocol.md, section 4. */
@NullMarked
package dev.ullage.cli.modelcheck;

import org.jspecify.annotations.NullMarked;
