@NullMarked
package dev.ullage.cli.show;

import org.jspecify.annotations.NullMarked;
