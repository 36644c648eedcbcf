@NullMarked
package dev.ullage.cli.estimate;

import org.jspecify.annotations.NullMarked;
