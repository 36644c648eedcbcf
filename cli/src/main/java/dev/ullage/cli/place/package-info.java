/** {@code ullage place}: where a job could go now, in the words of what would start it. */
@NullMarked
package dev.ullage.cli.place;

import org.jspecify.annotations.NullMarked;
