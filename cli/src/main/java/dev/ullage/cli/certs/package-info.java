/** An authority and certificates to try encrypted traffic with. */
@NullMarked
package dev.ullage.cli.certs;

import org.jspecify.annotations.NullMarked;
