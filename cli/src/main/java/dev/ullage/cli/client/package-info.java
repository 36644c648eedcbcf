/** The command's side of the HTTP API. */
@NullMarked
package dev.ullage.cli.client;

import org.jspecify.annotations.NullMarked;
