/** What people see of the cluster in a terminal. Pure: from the status document to text. */
@NullMarked
package dev.ullage.cli.show;

import org.jspecify.annotations.NullMarked;
