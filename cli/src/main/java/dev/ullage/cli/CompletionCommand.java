package dev.ullage.cli;

import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code ullage completion bash}: the script that completes commands and options. */
@Command(
        name = "completion",
        description = "Prints a script that makes a shell complete commands and options.",
        footer = {
            "",
            "bash:  source <(ullage completion bash)",
            "zsh:   autoload -Uz compinit && compinit && source <(ullage completion zsh)",
            "fish:  ullage completion fish | source",
            "Put the line into ~/.bashrc, ~/.zshrc or ~/.config/fish/config.fish to have it always."
        })
final class CompletionCommand implements Callable<Integer> {
    private final CliEnvironment environment;

    /** One script is for bash and zsh: it looks at which of them reads it. */
    private enum Shell {
        BASH,
        ZSH,
        FISH
    }

    @Parameters(index = "0", paramLabel = "SHELL", converter = ShellConverter.class, description = "bash, zsh or fish.")
    private Shell shell = Shell.BASH;

    @Spec
    private @Nullable CommandSpec spec;

    CompletionCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() {
        if (spec == null) {
            throw new IllegalStateException("made without its command line");
        }
        CommandSpec root = spec.root();
        environment
                .out()
                .print(
                        shell == Shell.FISH
                                ? FishCompletion.of(root)
                                : AutoComplete.bash(root.name(), root.commandLine()));
        environment.out().flush();
        return ExitCode.OK.code();
    }

    private static final class ShellConverter implements ITypeConverter<Shell> {
        @Override
        public Shell convert(String text) {
            for (Shell known : Shell.values()) {
                if (known.name().toLowerCase(Locale.ROOT).equals(text)) {
                    return known;
                }
            }
            throw new TypeConversionException("'" + text + "' must be bash, zsh or fish");
        }
    }
}
