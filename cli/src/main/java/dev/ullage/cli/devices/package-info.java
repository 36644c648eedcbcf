/** {@code ullage devices}: what Ullage sees of a machine's devices, on the machine itself or in recordings of it. */
@NullMarked
package dev.ullage.cli.devices;

import org.jspecify.annotations.NullMarked;
