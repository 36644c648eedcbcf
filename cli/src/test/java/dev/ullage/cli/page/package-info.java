/** The live page in a real browser, and what it costs to be watched. */
@NullMarked
package dev.ullage.cli.page;

import org.jspecify.annotations.NullMarked;
