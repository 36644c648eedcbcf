package dev.ullage.cli.run;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigParseOptions;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A job as it stands in a file, in HOCON or JSON like the settings: its name, the command that starts it, and what it
 * asks for, in the words of the API with hyphens ({@code memory-per-rank}).
 *
 * @param command empty: it stands on the command line
 * @param fields what it asks for, by the API's names
 */
record JobFile(Optional<String> job, List<String> command, Map<String, Object> fields) {
    static final JobFile NONE = new JobFile(Optional.empty(), List.of(), Map.of());

    private static final Pattern HYPHEN = Pattern.compile("-([a-z])");
    private static final String JOB = "job";
    private static final String COMMAND = "command";

    JobFile {
        command = List.copyOf(command);
        fields = new LinkedHashMap<>(fields);
    }

    static JobFile read(Path file) throws CommandFailure {
        Map<String, Object> values;
        try {
            Config config = ConfigFactory.parseFile(
                            file.toFile(), ConfigParseOptions.defaults().setAllowMissing(false))
                    .resolve();
            values = new LinkedHashMap<>(config.root().unwrapped());
        } catch (ConfigException e) {
            throw new CommandFailure(
                    ExitCode.BAD_SETTINGS, "--job-file " + file + " cannot be read: " + e.getMessage(), e);
        }
        List<String> problems = new ArrayList<>();
        Optional<String> job = Optional.empty();
        if (values.remove(JOB) instanceof String name) {
            job = Optional.of(name);
        }
        List<String> command = new ArrayList<>();
        Object words = values.remove(COMMAND);
        if (words instanceof List<?> list) {
            list.forEach(word -> command.add(String.valueOf(word)));
        } else if (words != null) {
            problems.add("command: must be a list of words");
        }
        if (!problems.isEmpty()) {
            throw new CommandFailure(ExitCode.BAD_SETTINGS, "--job-file " + file + ": " + String.join("; ", problems));
        }
        Map<String, Object> fields = new LinkedHashMap<>();
        values.forEach((name, value) -> fields.put(apiName(name), apiNames(value)));
        return new JobFile(job, command, fields);
    }

    private static String apiName(String name) {
        return HYPHEN.matcher(name).replaceAll(match -> match.group(1).toUpperCase(Locale.ROOT));
    }

    /** In lists and sections too. */
    private static Object apiNames(Object value) {
        if (value instanceof List<?> list) {
            return list.stream().map(JobFile::apiNames).toList();
        }
        if (value instanceof Map<?, ?> map) {
            Map<String, Object> renamed = new LinkedHashMap<>();
            map.forEach((name, inner) -> renamed.put(apiName(String.valueOf(name)), apiNames(inner)));
            return renamed;
        }
        return value;
    }
}
