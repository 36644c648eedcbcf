/** The coordinator's actor: thin, around the pure packages below it. */
@NullMarked
package dev.ullage.coordinator;

import org.jspecify.annotations.NullMarked;
