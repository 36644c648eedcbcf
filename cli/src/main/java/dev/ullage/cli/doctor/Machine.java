package dev.ullage.cli.doctor;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** What a check may see of the machine. */
interface Machine {
    /** An environment variable; empty if not set, or set to nothing. */
    Optional<String> variable(String name);

    boolean exists(Path path);

    boolean isWritableFolder(Path path);

    /** A file's text; empty if there is none or it may not be read. */
    Optional<String> text(Path file);

    /** Where a program is that is on the PATH. */
    Optional<Path> program(String name);

    /** What a command prints; blocks for some seconds at most. */
    Printed run(List<String> command);

    /** Opens NVML, counts devices and closes it; says so where the driver does not answer in a minute. */
    Nvml nvml();

    /** Where the worker's state is kept. */
    Path stateFolder();

    /** Where Java puts libraries that it unpacks. */
    Path temporaryFolder();

    /** @param output empty if it ended with an error, hung or could not be started; then {@code failure} says so */
    record Printed(Optional<String> output, String failure) {}

    /**
     * @param description empty if NVML cannot be opened; then {@code failure} says why, and {@code remedy} what to do
     */
    record Nvml(
            Optional<String> description, int devices, List<String> problems, String failure, Optional<String> remedy) {
        public Nvml {
            problems = List.copyOf(problems);
        }
    }
}
