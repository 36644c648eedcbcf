package dev.ullage.worker.probe.smi;

import java.util.List;
import java.util.Optional;

/**
 * A GPU as one or several outputs of the tool show it. Everything may be missing: which parts there are depends on what
 * was asked for.
 *
 * @param processes an empty list means nobody, an empty optional not known
 * @param problems what the output says is wrong with it
 */
public record SmiGpu(
        SmiGpuId id, SmiMemory memory, Mig mig, Optional<List<SmiProcess>> processes, List<String> problems) {

    public SmiGpu {
        processes = processes.map(List::copyOf);
        problems = List.copyOf(problems);
    }

    /**
     * @param enabled whether MIG mode is on, which it is not on a GPU that has no such mode; empty when not printed
     * @param devices its instances, as far as the output lists them
     */
    public record Mig(Optional<Boolean> enabled, List<SmiMigDevice> devices) {
        static final Mig NOT_PRINTED = new Mig(Optional.empty(), List.of());

        public Mig {
            devices = List.copyOf(devices);
        }

        public boolean isOn() {
            return enabled.orElse(false) || !devices.isEmpty();
        }
    }

    SmiGpu withProcesses(Optional<List<SmiProcess>> list) {
        return new SmiGpu(id, memory, mig, list, problems);
    }
}
