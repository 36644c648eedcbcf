package dev.ullage.cli;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The completion script for fish, which picocli does not write: subcommands where one is wanted, options where their
 * command was said. Pure.
 */
final class FishCompletion {
    private final String name;
    private final StringBuilder script = new StringBuilder();

    private FishCompletion(String name) {
        this.name = name;
    }

    static String of(CommandSpec root) {
        FishCompletion completion = new FishCompletion(root.name());
        completion.script.append("# Completion of ").append(root.name()).append(" for fish.\n");
        completion.command(root, List.of());
        return completion.script.toString();
    }

    /** @param path the commands that were said before, without the first */
    private void command(CommandSpec spec, List<String> path) {
        List<String> below = List.copyOf(spec.subcommands().keySet());
        String here =
                path.stream().map(part -> "__fish_seen_subcommand_from " + part).collect(Collectors.joining("; and "));
        String first = path.isEmpty() ? "__fish_use_subcommand" : here;
        for (CommandLine sub : spec.subcommands().values()) {
            String none = path.isEmpty() ? first : here + "; and not __fish_seen_subcommand_from " + words(below);
            line(none, "-f -a " + sub.getCommandName(), text(sub.getCommandSpec()));
        }
        for (OptionSpec option : spec.options()) {
            if (!option.hidden()) {
                String condition = path.isEmpty() ? first : here;
                line(condition, names(option), text(option.description()));
            }
        }
        spec.subcommands().forEach((sub, commandLine) -> {
            List<String> deeper = new ArrayList<>(path);
            deeper.add(sub);
            command(commandLine.getCommandSpec(), deeper);
        });
    }

    private static String words(List<String> names) {
        return String.join(" ", names);
    }

    private static String names(OptionSpec option) {
        String names = Arrays.stream(option.names())
                .map(one -> one.startsWith("--") ? "-l " + one.substring(2) : "-s " + one.substring(1))
                .collect(Collectors.joining(" "));
        return option.arity().max() > 0 ? names + " -r" : names;
    }

    private void line(String condition, String what, String description) {
        script.append("complete -c ")
                .append(name)
                .append(" -n ")
                .append(quoted(condition))
                .append(' ')
                .append(what)
                .append(description.isEmpty() ? "" : " -d " + quoted(description))
                .append('\n');
    }

    private static String text(CommandSpec spec) {
        return text(spec.usageMessage().description());
    }

    /** The first sentence, with what a format stands for: percent signs are doubled in picocli's texts. */
    private static String text(String... lines) {
        String all = String.join(" ", lines).replace("%%", "%");
        int end = all.indexOf(". ");
        String sentence = end < 0 ? all : all.substring(0, end);
        return sentence.endsWith(".") ? sentence.substring(0, sentence.length() - 1) : sentence;
    }

    /** In single quotes only a quote and a backslash have a meaning. */
    private static String quoted(String text) {
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }
}
