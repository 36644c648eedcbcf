package dev.ullage.cli.doctor;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The torch of the {@code python3} found. It is not imported: that takes seconds and may touch a device. */
final class TorchCheck implements Check {
    private static final String NAME = "torch";
    private static final Pattern VERSIONS = Pattern.compile("(\\S+) (?:(\\d+)\\.(\\d+)\\S*|-)");
    private static final String SCRIPT =
            """
            import sys
            try:
                from importlib import metadata
                torch = metadata.version("torch")
            except Exception:
                torch = "-"
            print(sys.version.split()[0], torch)
            """;
    private static final String REMEDY = "start ullage doctor in the environment that the ranks run in";

    @Override
    public Finding look(Machine machine) {
        Optional<Path> python = machine.program("python3");
        if (python.isEmpty()) {
            return Finding.warn(NAME, "no python3 is on the PATH", REMEDY);
        }
        Machine.Printed printed = machine.run(List.of(python.get().toString(), "-c", SCRIPT));
        Matcher versions = VERSIONS.matcher(printed.output().orElse("").strip());
        if (!versions.matches()) {
            String why = printed.output().isEmpty() ? printed.failure() : "it prints something else";
            return Finding.warn(NAME, python.get() + " does not tell its version: " + why, REMEDY);
        }
        String where = python.get() + " (" + versions.group(1) + ")";
        if (versions.group(2) == null) {
            return Finding.warn(NAME, where + " has no torch", REMEDY + ", or install torch there");
        }
        int release = Integer.parseInt(versions.group(2)) * 1_000 + Integer.parseInt(versions.group(3));
        String torch = "torch " + printed.output().orElse("").strip().split(" ", -1)[1] + " in " + where;
        return release < 1_008
                ? Finding.warn(NAME, torch + " cannot be held to a limit", "use torch 1.8 or later")
                : Finding.pass(NAME, torch);
    }
}
