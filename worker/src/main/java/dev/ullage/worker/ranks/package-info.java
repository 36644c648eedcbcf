/** The ranks on this host: their socket, their sessions, and the processes behind them. */
@NullMarked
package dev.ullage.worker.ranks;

import org.jspecify.annotations.NullMarked;
