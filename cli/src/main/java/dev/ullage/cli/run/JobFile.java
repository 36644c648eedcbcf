package dev.ullage.cli.run;

import com.typesafe.config.ConfigSyntax;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.cli.FileReason;
import dev.ullage.cli.run.JobNode.Document;
import dev.ullage.cli.run.JobNode.Entry;
import dev.ullage.cli.run.JobNode.Items;
import dev.ullage.cli.run.JobNode.Scalar;
import dev.ullage.cli.run.JobNode.Section;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A job as it stands in a file: its name, the command that starts it, and what it asks for, in the words of the API
 * with hyphens ({@code memory-per-rank}). By the file's name it is YAML ({@code .yaml}, {@code .yml}), JSON
 * ({@code .json}) or HOCON (any other).
 *
 * @param command empty: it stands on the command line
 * @param fields what it asks for, by the API's names
 * @param places where each field stands, by the path of its API name ({@code groups[0].memoryPerRank})
 * @param problems of the file itself, each with its place
 */
record JobFile(
        Optional<String> job,
        List<String> command,
        Map<String, Object> fields,
        Map<String, Place> places,
        List<String> problems) {
    static final JobFile NONE = new JobFile(Optional.empty(), List.of(), Map.of(), Map.of(), List.of());

    private static final long MOST_BYTES = 1 << 20;
    private static final Pattern HYPHEN = Pattern.compile("-([a-z])");
    private static final Pattern PATH = Pattern.compile("([A-Za-z0-9_.\\-\\[\\]]+?)( = |: ).*", Pattern.DOTALL);
    private static final String JOB = "job";
    private static final String COMMAND = "command";

    /**
     * @param name where the name stands
     * @param value where the value stands
     * @param path as it is written in the file
     */
    record Place(String name, String value, String path) {}

    JobFile {
        command = List.copyOf(command);
        fields = new LinkedHashMap<>(fields);
        places = Map.copyOf(places);
        problems = List.copyOf(problems);
    }

    /** @throws CommandFailure when it cannot be read, or its syntax is wrong */
    static JobFile read(Path file) throws CommandFailure {
        try {
            if (Files.size(file) > MOST_BYTES) {
                throw new IOException("it has more than " + MOST_BYTES + " bytes");
            }
            String name = file.toString().toLowerCase(Locale.ROOT);
            if (name.endsWith(".yaml") || name.endsWith(".yml")) {
                return new Reader().read(YamlJobReader.read(file));
            }
            return new Reader()
                    .read(HoconJobReader.read(file, name.endsWith(".json") ? ConfigSyntax.JSON : ConfigSyntax.CONF));
        } catch (IOException e) {
            throw new CommandFailure(
                    ExitCode.BAD_SETTINGS, "--job-file " + file + " cannot be read: " + FileReason.of(e), e);
        }
    }

    /**
     * @param ofOptions what is wrong with the command line
     * @throws CommandFailure with all problems, when there are any
     */
    void requireRight(List<String> ofOptions) throws CommandFailure {
        List<String> all = new ArrayList<>(problems);
        all.addAll(ofOptions);
        if (!all.isEmpty()) {
            throw new CommandFailure(
                    problems.isEmpty() ? ExitCode.USAGE : ExitCode.BAD_SETTINGS, String.join("; ", all));
        }
    }

    /**
     * A problem of a request with its place in this file, in the file's own words, where it is this file's.
     *
     * @param said by this file and the options together: an option may have taken a field's place
     */
    String placed(String problem, Map<String, ?> said) {
        Matcher matcher = PATH.matcher(problem);
        if (!matcher.matches()) {
            return problem;
        }
        String path = matcher.group(1);
        Place place = places.get(path);
        String field = path.split("[.\\[]", 2)[0];
        if (place == null || !Objects.equals(fields.get(field), said.get(field))) {
            return problem;
        }
        String at = matcher.group(2).equals(": ") ? place.name() : place.value();
        return at + ": " + place.path() + problem.substring(path.length());
    }

    /** Makes one of a document; lives for as long as that takes. */
    private static final class Reader {
        private final Map<String, Place> places = new LinkedHashMap<>();
        private final List<String> problems = new ArrayList<>();

        JobFile read(Document document) {
            problems.addAll(document.problems());
            Map<String, Entry> entries = new LinkedHashMap<>(document.root().entries());
            Optional<String> job = Optional.ofNullable(entries.remove(JOB)).flatMap(this::job);
            List<String> command = Optional.ofNullable(entries.remove(COMMAND))
                    .map(this::command)
                    .orElse(List.of());
            Map<String, Object> fields = fields(entries, "", "");
            return new JobFile(job, command, fields, places, problems);
        }

        private Optional<String> job(Entry entry) {
            if (!(entry.node() instanceof Scalar scalar)) {
                problems.add(entry.node().place() + ": job: must be text");
                return Optional.empty();
            }
            return scalar.value() == null ? Optional.empty() : Optional.of(scalar.text());
        }

        private List<String> command(Entry entry) {
            List<String> words = new ArrayList<>();
            if (entry.node() instanceof Items list) {
                for (JobNode item : list.items()) {
                    if (item instanceof Scalar scalar && scalar.value() != null) {
                        words.add(scalar.text());
                    } else {
                        problems.add(item.place() + ": command: must be a list of words");
                    }
                }
            } else if (!(entry.node() instanceof Scalar scalar) || scalar.value() != null) {
                problems.add(entry.node().place() + ": command: must be a list of words");
            }
            return words;
        }

        /**
         * Those that have a value: none is the same as left out.
         *
         * @param written the path of the section in the file's names
         */
        private Map<String, Object> fields(Map<String, Entry> entries, String path, String written) {
            Map<String, Object> fields = new LinkedHashMap<>();
            entries.forEach((name, entry) -> {
                String field = apiName(name);
                if (places.containsKey(path + field)) {
                    problems.add(entry.place() + ": " + name + " was given before by its other name");
                }
                Optional.ofNullable(value(entry, path + field, written + name))
                        .ifPresent(value -> fields.put(field, value));
            });
            return fields;
        }

        private @Nullable Object value(Entry entry, String path, String written) {
            JobNode node = entry.node();
            places.put(path, new Place(entry.place(), node.place(), written));
            if (node instanceof Section section) {
                return fields(section.entries(), path + ".", written + ".");
            }
            if (!(node instanceof Items list)) {
                return ((Scalar) node).value();
            }
            List<@Nullable Object> values = new ArrayList<>();
            for (int i = 0; i < list.items().size(); i++) {
                JobNode item = list.items().get(i);
                String index = "[" + i + "]";
                values.add(value(new Entry(item.place(), item), path + index, written + index));
            }
            return values;
        }

        private static String apiName(String name) {
            return HYPHEN.matcher(name).replaceAll(match -> match.group(1).toUpperCase(Locale.ROOT));
        }
    }
}
