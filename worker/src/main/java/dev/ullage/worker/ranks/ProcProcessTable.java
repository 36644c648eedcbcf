package dev.ullage.worker.ranks;

import dev.ullage.worker.sampling.ProcStatus;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Processes read from {@code /proc}. */
public final class ProcProcessTable implements ProcessTable {
    private static final Pattern PID = Pattern.compile("[1-9][0-9]{0,9}");
    private static final Pattern NAMESPACE = Pattern.compile("pid:\\[([0-9]{1,18})\\]");
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

    @Override
    public OptionalLong pidHere(long pid, long namespace, long startTicks) throws IOException {
        if (namespace(root.resolve("self")).equals(OptionalLong.of(namespace))) {
            return OptionalLong.of(pid);
        }
        List<Long> same = new ArrayList<>();
        for (long here : pids()) {
            boolean isNamedSo = ProcStatus.read(root, here)
                    .filter(process -> process.isElsewhere(pid))
                    .isPresent();
            if (isNamedSo
                    && find(here)
                            .filter(facts -> facts.startTicks() == startTicks)
                            .isPresent()) {
                same.add(here);
            }
        }
        if (same.size() > 1) {
            same.removeIf(here -> !namespace(root.resolve(here.toString())).equals(OptionalLong.of(namespace)));
        }
        return same.size() == 1 ? OptionalLong.of(same.get(0)) : OptionalLong.empty();
    }

    private List<Long> pids() throws IOException {
        try (Stream<Path> folders = Files.list(root)) {
            return folders.map(folder -> String.valueOf(folder.getFileName()))
                    .filter(name -> PID.matcher(name).matches())
                    .map(Long::valueOf)
                    .toList();
        }
    }

    /** Of a process that this one may look into; empty for another user's. */
    private static OptionalLong namespace(Path process) {
        try {
            Matcher link = NAMESPACE.matcher(
                    Files.readSymbolicLink(process.resolve("ns/pid")).toString());
            return link.matches() ? OptionalLong.of(Long.parseLong(link.group(1))) : OptionalLong.empty();
        } catch (IOException e) {
            return OptionalLong.empty();
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
