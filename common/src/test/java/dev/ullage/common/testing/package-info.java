/** Builders and models for the tests of all modules. */
@NullMarked
package dev.ullage.common.testing;

import org.jspecify.annotations.NullMarked;
