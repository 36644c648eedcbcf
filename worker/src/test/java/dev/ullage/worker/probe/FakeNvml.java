package dev.ullage.worker.probe;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A {@code libnvidia-ml.so.1} that is compiled from {@code src/test/c/fake_nvml.c} and answers from a JSON script; the
 * script's keys are explained there. Compiled anew for each test, so that no library is loaded twice.
 */
public final class FakeNvml {
    static final Path SOURCE = Path.of("src/test/c/fake_nvml.c");
    private static final ObjectMapper MAPPER = new ObjectMapper();

    /** Not the real name: JNA remembers libraries by it, and a test of the real one would get this. */
    private static final String FILE = "libnvidia-ml-fake.so.1";

    private final Path library;
    private final Map<String, String> script = new TreeMap<>();

    private FakeNvml(Path library) {
        this.library = library;
    }

    /** Skips the test, with the reason, on a machine without a C compiler. */
    public static FakeNvml compile(Path folder, String... flags) {
        assumeTrue(hasCompiler(), "skipped: there is no gcc to compile the fake NVML library with");
        Path library = folder.resolve(FILE).toAbsolutePath();
        List<String> command = new ArrayList<>(List.of("gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-shared"));
        command.addAll(List.of("-fPIC", "-Wl,-Bsymbolic", "-o", library.toString(), SOURCE.toString(), "-ldl"));
        command.addAll(List.of(flags));
        String output = run(command);
        if (!Files.exists(library)) {
            throw new AssertionError("the fake NVML library does not compile: " + output);
        }
        return new FakeNvml(library);
    }

    private static boolean hasCompiler() {
        try {
            run(List.of("gcc", "--version"));
            return true;
        } catch (UncheckedIOException e) {
            System.err.println("no gcc, so tests against the fake NVML library are skipped: " + e.getMessage());
            return false;
        }
    }

    private static String run(List<String> command) {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            process.waitFor();
            return output;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    public FakeNvml with(String key, Object value) {
        script.put(key, value.toString());
        return write();
    }

    /** Several at once: no look finds one changed and not the other. */
    public FakeNvml with(Map<String, ?> values) {
        values.forEach((key, value) -> script.put(key, value.toString()));
        return write();
    }

    public FakeNvml without(String key) {
        script.remove(key);
        return write();
    }

    /** In one step, for the library may read it at any time. */
    private FakeNvml write() {
        try {
            Path next = Path.of(script() + ".next");
            MAPPER.writeValue(next.toFile(), script);
            Files.move(next, script(), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return this;
    }

    /** A healthy idle device: {@code GPU-<index>0000000-...}, an A10 with the memory of case C05. */
    FakeNvml withDevice(int index) {
        String device = "device." + index + ".";
        return with(device + "uuid", uuid(index))
                .with(device + "name", "NVIDIA A10")
                .with(device + "pci", "00000000:0" + index + ":00.0")
                .with(device + "memory", "24146608128,541917184,0,23604690944");
    }

    /** So many healthy devices. */
    public FakeNvml withDevices(int count) {
        for (int index = 0; index < count; index++) {
            withDevice(index);
        }
        return with("count", count).with("driver", "550.54.15");
    }

    public static String uuid(int index) {
        return "GPU-%d0000000-1111-4000-8000-000000000000".formatted(index);
    }

    /** A copy with its script under another name, in a folder of its own, which is returned. */
    Path installAs(String name) throws IOException {
        Path folder = Files.createDirectory(library.resolveSibling("installed"));
        Files.copy(library, folder.resolve(name));
        Files.copy(script(), folder.resolve(name + ".json"));
        return folder;
    }

    public String path() {
        return library.toString();
    }

    /** The file it answers from. */
    Path script() {
        return Path.of(library + ".json");
    }

    /** Answers from a script as it is written by hand, until the next {@link #with}. */
    FakeNvml answering(String json) throws IOException {
        Files.writeString(script(), json);
        return this;
    }

    /** What was called, in order; limits with their amounts and cgroup. */
    public List<String> log() throws IOException {
        return Files.readAllLines(Path.of(library + ".calls"));
    }

    boolean hasCalled(String function, int times) {
        try {
            return calls(function) >= times;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** How often the C function was called. */
    long calls(String function) throws IOException {
        return Files.readAllLines(Path.of(library + ".calls")).stream()
                .filter(function::equals)
                .count();
    }
}
