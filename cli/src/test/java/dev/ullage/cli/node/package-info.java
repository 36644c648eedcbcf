/** Tests of the parts of a node that need no cluster. */
@NullMarked
package dev.ullage.cli.node;

import org.jspecify.annotations.NullMarked;
