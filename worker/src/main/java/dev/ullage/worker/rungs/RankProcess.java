package dev.ullage.worker.rungs;

import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.RankInstance;
import dev.ullage.worker.ranks.ProcProcessTable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A rank's process as its host sees it.
 *
 * @param device where it is
 * @param proc the folder of processes, as a rule {@code /proc}
 */
record RankProcess(RankInstance instance, DeviceInfo device, Path proc) {

    /**
     * Whether the process with this number is still the rank's: a number is given to another once its process ended.
     */
    boolean isStillIt() {
        try {
            return new ProcProcessTable(proc)
                    .find(instance.pid())
                    .filter(facts -> facts.startTicks() == instance.startTicks())
                    .isPresent();
        } catch (IOException e) {
            return false;
        }
    }

    private Path folder() {
        return proc.resolve(Long.toString(instance.pid()));
    }

    /** The variables it was started with; what it changed since is not in there. */
    Map<String, String> environment() throws IOException {
        String text = Files.readString(folder().resolve("environ"), StandardCharsets.ISO_8859_1);
        Map<String, String> variables = new LinkedHashMap<>();
        for (String entry : text.split("\0")) {
            int equals = entry.indexOf('=');
            if (equals > 0) {
                variables.putIfAbsent(entry.substring(0, equals), entry.substring(equals + 1));
            }
        }
        return variables;
    }

    /** Whether a file of this name is loaded into it. */
    boolean hasLoaded(String file) throws IOException {
        try (Stream<String> maps = Files.lines(folder().resolve("maps"), StandardCharsets.ISO_8859_1)) {
            return maps.anyMatch(line -> line.endsWith("/" + file));
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    /** An absolute path of the process, which may be in a container, as this host sees it. */
    Path inside(String path) {
        Path root = folder().resolve("root");
        return root.resolve(Path.of("/").relativize(Path.of("/").resolve(path).normalize()));
    }

    /** The user it runs as, by number. */
    int user() throws IOException {
        return (Integer) Files.getAttribute(folder(), "unix:uid");
    }
}
