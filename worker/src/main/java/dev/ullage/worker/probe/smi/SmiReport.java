package dev.ullage.worker.probe.smi;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What one or several outputs of the tool say.
 *
 * @param driver the driver's version
 * @param gpus in the order of the output
 * @param listsProcesses whether it has a complete list of processes, so that a GPU it does not name has none
 * @param problems what is wrong with the output as a whole, or with lines of it that belong to no GPU
 */
public record SmiReport(Optional<String> driver, List<SmiGpu> gpus, boolean listsProcesses, List<String> problems) {
    public SmiReport {
        gpus = List.copyOf(gpus);
        problems = List.copyOf(problems);
    }

    SmiReport with(String problem) {
        List<String> all = new ArrayList<>(problems);
        all.add(problem);
        return new SmiReport(driver, gpus, listsProcesses, all);
    }

    static SmiReport nothing(String problem) {
        return new SmiReport(Optional.empty(), List.of(), false, List.of(problem));
    }
}
