/**
 * {@code ullage doctor}: whether this machine can do what Ullage needs, and what to do where it cannot. Each check is a
 * class that sees the machine through {@code Machine} only.
 */
@NullMarked
package dev.ullage.cli.doctor;

import org.jspecify.annotations.NullMarked;
