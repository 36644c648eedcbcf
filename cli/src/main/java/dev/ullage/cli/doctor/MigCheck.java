package dev.ullage.cli.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** MIG mode, and changes of it that wait for a reset. */
final class MigCheck implements Check {
    private static final String NAME = "MIG";
    private static final List<String> QUERY =
            List.of("--query-gpu=index,mig.mode.current,mig.mode.pending", "--format=csv,noheader");
    /** A card that has no such mode says N/A; anything else is said by one that is not well. */
    private static final List<String> MODES =
            List.of("Enabled", "Disabled", "[N/A]", "N/A", "[Not Supported]", "Not Supported");

    @Override
    public Finding look(Machine machine) {
        Machine.Printed printed = machine.program("nvidia-smi")
                .map(program -> {
                    List<String> command = new ArrayList<>(List.of(program.toString()));
                    command.addAll(QUERY);
                    return machine.run(command);
                })
                .orElseGet(() -> new Machine.Printed(Optional.empty(), "it is not on the PATH"));
        Optional<String> output = printed.output();
        if (output.isEmpty()) {
            return Finding.warn(
                    NAME,
                    "cannot be told: nvidia-smi: " + printed.failure(),
                    "\"ullage devices\" shows instances as devices of their own, if NVML works");
        }
        List<String> on = new ArrayList<>();
        List<String> pending = new ArrayList<>();
        List<String> unknown = new ArrayList<>();
        for (String line : output.get().lines().toList()) {
            String[] cells = line.split(", *", -1);
            if (!line.isBlank() && (cells.length != 3 || !MODES.contains(cells[1]))) {
                unknown.add(line.strip());
            }
            if (cells.length == 3 && cells[1].equals("Enabled")) {
                on.add(cells[0]);
            }
            if (cells.length == 3 && !cells[1].equals(cells[2])) {
                pending.add(cells[0]);
            }
        }
        if (!pending.isEmpty()) {
            return Finding.warn(
                    NAME,
                    "a change of the mode waits for a reset of GPU " + String.join(", ", pending),
                    "reset the GPU (nvidia-smi --gpu-reset) or restart the host, then restart the worker");
        }
        if (!unknown.isEmpty()) {
            return Finding.warn(
                    NAME,
                    "cannot be told of: " + String.join("; ", unknown),
                    "see \"ullage devices\" for what is wrong with it");
        }
        return Finding.pass(
                NAME,
                on.isEmpty()
                        ? "off, or not available"
                        : "on for GPU " + String.join(", ", on) + ": their instances are the devices, one for a rank");
    }
}
