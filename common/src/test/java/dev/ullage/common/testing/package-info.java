/** What tests of every module share; published in this module's test jar. */
@NullMarked
package dev.ullage.common.testing;

import org.jspecify.annotations.NullMarked;
