/** A running node: coordinator, worker or both, and its membership in the cluster. */
@NullMarked
package dev.ullage.cli.node;

import org.jspecify.annotations.NullMarked;
