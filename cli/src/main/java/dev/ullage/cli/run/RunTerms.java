package dev.ullage.cli.run;

import dev.ullage.common.model.MemoryBytes;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What {@code ullage run} itself was told.
 *
 * @param ranks in all, where the launcher's command line does not say
 * @param ranksPerDevice 1 or more; more than one has to be asked for
 * @param devices how many of this host's devices the job may see; 0: none
 * @param memory what each rank needs
 * @param visibleDevices {@code CUDA_VISIBLE_DEVICES} of the caller; empty when unset
 * @param deviceOrder {@code CUDA_DEVICE_ORDER} of the caller
 */
record RunTerms(
        OptionalInt ranks,
        int ranksPerDevice,
        OptionalInt devices,
        Optional<MemoryBytes> memory,
        Optional<String> visibleDevices,
        Optional<String> deviceOrder) {}
