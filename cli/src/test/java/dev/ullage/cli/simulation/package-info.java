/**
 * The whole protocol under a seed: production ledgers, keepers, coordinators and planner, and the rank client's state
 * machine, in virtual time, over a network and disks that fail. docs/protocol.md, section 4.
 */
@NullMarked
package dev.ullage.cli.simulation;

import org.jspecify.annotations.NullMarked;
