package dev.ullage.worker.probe.smi;

import dev.ullage.worker.probe.smi.SmiProcess.MigInstance;
import java.util.Optional;

/**
 * One instance of a device in MIG mode.
 *
 * @param number its number on its device, from 0
 * @param instance its ids; {@code nvidia-smi -L} has none
 * @param uuid {@code MIG-...}; only {@code nvidia-smi -L} has it
 * @param profile {@code 1g.18gb}; only {@code nvidia-smi -L} has it
 */
public record SmiMigDevice(
        int number, Optional<MigInstance> instance, Optional<String> uuid, Optional<String> profile, SmiMemory memory) {

    SmiMigDevice or(SmiMigDevice other) {
        return new SmiMigDevice(
                number,
                instance.or(other::instance),
                uuid.or(other::uuid),
                profile.or(other::profile),
                memory.or(other.memory));
    }
}
