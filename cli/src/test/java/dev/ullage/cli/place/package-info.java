@NullMarked
package dev.ullage.cli.place;

import org.jspecify.annotations.NullMarked;
