/**
 * {@code ullage demo}: an embedded cluster, ranks that really train, changes while they do, and a summary that checks.
 */
@NullMarked
package dev.ullage.cli.demo;

import org.jspecify.annotations.NullMarked;
