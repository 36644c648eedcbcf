/** What operators reach over HTTP: the status of the cluster, its health, and the few things they may change. */
@NullMarked
package dev.ullage.coordinator.http;

import org.jspecify.annotations.NullMarked;
