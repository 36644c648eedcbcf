/**
 * What {@code nvidia-smi} prints, for hosts where NVML cannot be opened and for recordings that a user attaches to a
 * report. The parsers are pure; {@code SmiProbe} and {@code SmiChild} run the tool.
 */
@NullMarked
package dev.ullage.worker.probe.smi;

import org.jspecify.annotations.NullMarked;
