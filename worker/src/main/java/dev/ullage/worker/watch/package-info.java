/** What the figures of a rank's allocator come to over its steps: peaks, leaks, whether to ask for the cache. Pure. */
@NullMarked
package dev.ullage.worker.watch;

import org.jspecify.annotations.NullMarked;
