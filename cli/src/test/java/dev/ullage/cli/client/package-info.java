@NullMarked
package dev.ullage.cli.client;

import org.jspecify.annotations.NullMarked;
