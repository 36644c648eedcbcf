package dev.ullage.common.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.opentest4j.TestAbortedException;

/**
 * What a test needs of the machine it runs on. Where that is missing the test is skipped, visibly: the reason is
 * printed, shown in the report, and appended to the file that {@code ullage.skip.file} names, from which
 * {@code ./ullage check} lists it and CI fails. A reason that starts with {@link #MACHINE} is one that no package would
 * remove; it never fails CI.
 */
public final class Requires {
    public static final String SKIP_FILE_PROPERTY = "ullage.skip.file";
    public static final String MACHINE = "machine: ";

    private static final long PROBE_TIMEOUT_SECONDS = 60;
    private static final Map<String, Boolean> PROBED = new ConcurrentHashMap<>();

    private Requires() {}

    /** A program on the PATH. */
    public static void command(String command, String debianPackage) {
        if (!isOnPath(command)) {
            throw skip("no " + command + " on the PATH; package " + debianPackage);
        }
    }

    /** A module that this Python interpreter can import. */
    public static void python(String module, String interpreter, String debianPackage) {
        String find = "import importlib.util, sys; sys.exit(importlib.util.find_spec('" + module + "') is None)";
        if (!succeeds(interpreter, "-c", find)) {
            throw skip(interpreter + " has no module " + module + "; package " + debianPackage);
        }
    }

    /** Permission to make network namespaces, and the program that wires them up. */
    public static void networkNamespaces() {
        command("ip", "iproute2");
        if (!succeeds("unshare", "--net", "true")) {
            throw skip(MACHINE + "no permission to make network namespaces");
        }
    }

    /** An NVIDIA GPU with its driver. */
    public static void nvidiaGpu() {
        if (!succeeds("nvidia-smi", "-L")) {
            throw skip(MACHINE + "no NVIDIA GPU (nvidia-smi -L fails)");
        }
    }

    /** Anything else: skips with the reason unless {@code available}. */
    public static void that(boolean available, String reason) {
        if (!available) {
            throw skip(reason);
        }
    }

    private static TestAbortedException skip(String reason) {
        System.out.println("SKIPPED (" + reason + ")");
        String file = System.getProperty(SKIP_FILE_PROPERTY);
        if (file != null) {
            record(Path.of(file), reason);
        }
        return new TestAbortedException(reason);
    }

    private static void record(Path file, String reason) {
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            Files.writeString(file, reason + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot record a skipped test in " + file, e);
        }
    }

    private static boolean isOnPath(String command) {
        String path = System.getenv().getOrDefault("PATH", "");
        return Arrays.stream(path.split(":", -1))
                .filter(folder -> !folder.isEmpty())
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, command)));
    }

    private static boolean succeeds(String... command) {
        return PROBED.computeIfAbsent(String.join(" ", command), key -> run(command));
    }

    private static boolean run(String... command) {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            boolean ended = process.waitFor(PROBE_TIMEOUT_SECONDS, TimeUnit.SECONDS);
            process.destroyForcibly();
            return ended && process.exitValue() == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
