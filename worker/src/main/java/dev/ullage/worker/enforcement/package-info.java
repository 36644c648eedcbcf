/**
 * How a rank is held to its limit, decided: the ladder of mechanisms, what a process uses beside its allocator, and the
 * alarm for what is above a ceiling. Pure; what touches files and drivers is in {@code dev.ullage.worker.rungs}.
 */
@NullMarked
package dev.ullage.worker.enforcement;

import org.jspecify.annotations.NullMarked;
