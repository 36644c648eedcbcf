package dev.ullage.cli.demo;

import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The interpreter the demo's ranks run on: the one named in {@code ULLAGE_PYTHON}, else the first that has torch, else
 * the first that is new enough.
 *
 * @param interpreter as it is started
 * @param hasTorch whether the ranks train with torch
 * @param clientPath the folder with the {@code ullage} package
 */
record DemoPython(String interpreter, boolean hasTorch, Path clientPath) {
    private static final List<String> CANDIDATES = List.of("python3", "/usr/bin/python3");
    private static final long PROBE_SECONDS = 30;
    private static final String PROBE =
            """
            import sys, importlib.util
            new = sys.version_info >= (3, 9)
            print("torch" if new and importlib.util.find_spec("torch") else "plain" if new else "old")
            """;

    static DemoPython find(Map<String, String> environment) throws CommandFailure {
        Path client = findClient();
        Optional<DemoPython> plain = Optional.empty();
        List<String> candidates = Optional.ofNullable(environment.get("ULLAGE_PYTHON"))
                .map(List::of)
                .orElse(CANDIDATES);
        for (String candidate : candidates) {
            String found = probe(candidate);
            if (found.equals("torch")) {
                return new DemoPython(candidate, true, client);
            }
            if (found.equals("plain") && plain.isEmpty()) {
                plain = Optional.of(new DemoPython(candidate, false, client));
            }
        }
        return plain.orElseThrow(() -> new CommandFailure(
                ExitCode.FAILED,
                "the demo's ranks need Python 3.9 or newer; none of " + candidates
                        + " is one. Install it, or name one in ULLAGE_PYTHON"));
    }

    private static String probe(String interpreter) {
        try {
            Process process = new ProcessBuilder(interpreter, "-c", PROBE)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String answer = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return process.waitFor(PROBE_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0 ? answer : "none";
        } catch (IOException e) {
            return "none";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "none";
        }
    }

    private static Path findClient() throws CommandFailure {
        Path path = Path.of(System.getProperty("ullage.home", "."), "python").toAbsolutePath();
        if (!Files.isDirectory(path.resolve("ullage"))) {
            throw new CommandFailure(
                    ExitCode.FAILED,
                    "no rank client at " + path + "; start the demo with bin/ullage of a distribution, or ./ullage");
        }
        return path;
    }

    String trainer() {
        return hasTorch ? "torch" : "plain";
    }
}
