@NullMarked
package dev.ullage.cli.run;

import org.jspecify.annotations.NullMarked;
