/** What the worker's host has beside its devices: processors and memory, within the control groups it runs in. */
@NullMarked
package dev.ullage.worker.host;

import org.jspecify.annotations.NullMarked;
