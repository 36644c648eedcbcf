package dev.ullage.worker.ranks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Processes read from {@code /proc}. */
public final class ProcProcessTable implements ProcessTable {
    private static final int STATE = 0;
    private static final int THREADS = 17;
    private static final int START_TIME = 19;

    private final Path root;

    public ProcProcessTable(Path root) {
        this.root = root;
    }

    @Override
    public Optional<ProcessFacts> find(long pid) throws IOException {
        Path folder = root.resolve(Long.toString(pid));
        try {
            // A process may call itself anything, also what is no text: every byte is a character here.
            List<String> fields = statAfterName(Files.readString(folder.resolve("stat"), StandardCharsets.ISO_8859_1));
            if (hasEnded(fields)) {
                return Optional.empty();
            }
            String user = Files.getOwner(folder).getName();
            return Optional.of(new ProcessFacts(Long.parseLong(fields.get(START_TIME)), user));
        } catch (IOException e) {
            if (Files.notExists(folder)) {
                return Optional.empty();
            }
            throw e;
        } catch (NumberFormatException | IndexOutOfBoundsException e) {
            throw new IOException("process " + pid + ": " + folder.resolve("stat") + " is not as expected", e);
        }
    }

    /** A first thread that has ended looks like a zombie while other threads of the process live on. */
    private static boolean hasEnded(List<String> fields) {
        String state = fields.get(STATE);
        return state.equals("X") || (state.equals("Z") && Long.parseLong(fields.get(THREADS)) <= 1);
    }

    /** The fields of {@code stat} from the third on: the second is the name, which may hold blanks and brackets. */
    private static List<String> statAfterName(String stat) {
        return List.of(stat.substring(stat.lastIndexOf(')') + 2).trim().split(" "));
    }
}
