package dev.ullage.worker.probe.smi;

import dev.ullage.common.model.DeviceKind;
import java.util.List;
import java.util.Optional;

/**
 * A device whose memory can be given out, as far as outputs of the tool tell.
 *
 * @param id for an instance of a device in MIG mode: its own UUID, its parent's index and bus id
 * @param kind empty where the outputs do not tell it
 * @param processes an empty list means nobody, an empty optional not known
 */
public record SmiDevice(
        SmiGpuId id,
        Optional<DeviceKind> kind,
        Optional<Slice> slice,
        SmiMemory memory,
        Optional<List<SmiProcess>> processes,
        List<String> problems) {

    /**
     * Which part of which GPU an instance is.
     *
     * @param sharesMemory whether its memory is another instance's as well, so that none of it is its own
     */
    public record Slice(
            Optional<String> parentUuid,
            Optional<SmiProcess.MigInstance> instance,
            Optional<String> profile,
            boolean sharesMemory) {}

    public SmiDevice {
        processes = processes.map(List::copyOf);
        problems = List.copyOf(problems);
    }

    /** {@code total - reserved}, where both are known. */
    public SmiAmount allocatable() {
        if (memory.total().bytes().isEmpty()) {
            return memory.total();
        }
        return memory.reserved()
                .bytes()
                .map(reserved ->
                        SmiAmount.of(memory.total().bytes().orElseThrow().minusOrZero(reserved)))
                .orElse(memory.reserved());
    }
}
