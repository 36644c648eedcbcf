/** What the tests of several packages of the worker share. */
@NullMarked
package dev.ullage.worker.testing;

import org.jspecify.annotations.NullMarked;
