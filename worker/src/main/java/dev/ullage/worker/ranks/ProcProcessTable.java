package dev.ullage.worker.ranks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Processes read from {@code /proc}. */
public final class ProcProcessTable implements ProcessTable {
    private static final int STATE = 0;
    private static final int START_TIME = 19;

    private final Path root;

    public ProcProcessTable(Path root) {
        this.root = root;
    }

    @Override
    public Optional<ProcessFacts> find(long pid) {
        Path folder = root.resolve(Long.toString(pid));
        try {
            List<String> fields = statAfterName(Files.readString(folder.resolve("stat")));
            if (fields.get(STATE).equals("Z") || fields.get(STATE).equals("X")) {
                return Optional.empty();
            }
            String user = Files.getOwner(folder).getName();
            return Optional.of(new ProcessFacts(Long.parseLong(fields.get(START_TIME)), user));
        } catch (IOException | NumberFormatException | IndexOutOfBoundsException e) {
            return Optional.empty();
        }
    }

    /** The fields of {@code stat} from the third on: the second is the name, which may hold blanks and brackets. */
    private static List<String> statAfterName(String stat) {
        return List.of(stat.substring(stat.lastIndexOf(')') + 2).trim().split(" "));
    }
}
