/** {@code ullage run}: a launcher's command line read, checked against the cluster, run with the client in front. */
@NullMarked
package dev.ullage.cli.run;

import org.jspecify.annotations.NullMarked;
