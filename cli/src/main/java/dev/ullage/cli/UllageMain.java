package dev.ullage.cli;

import dev.ullage.cli.certs.CertsCommand;
import dev.ullage.cli.client.ApiException;
import dev.ullage.cli.demo.DemoCommand;
import dev.ullage.cli.devices.DevicesCommand;
import dev.ullage.cli.doctor.DoctorCommand;
import dev.ullage.cli.estimate.EstimateCommand;
import dev.ullage.cli.node.CoordinatorCommand;
import dev.ullage.cli.node.UpCommand;
import dev.ullage.cli.node.WorkerCommand;
import dev.ullage.cli.place.PlaceCommand;
import dev.ullage.cli.predict.PredictCommand;
import dev.ullage.cli.replay.ReplayCommand;
import dev.ullage.cli.run.RunCommand;
import dev.ullage.cli.simulate.SimulateCommand;
import dev.ullage.cli.top.TopCommand;
import dev.ullage.config.SettingsException;
import java.io.PrintWriter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The {@code ullage} command: its parts, and what happens when one of them fails. */
@Command(
        name = "ullage",
        description = "Coordinates the GPU memory of training jobs across machines.",
        versionProvider = Version.class,
        synopsisSubcommandLabel = "COMMAND",
        exitCodeListHeading = "%nExit codes:%n")
public final class UllageMain implements Runnable {
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help and exit.",
            scope = ScopeType.INHERIT)
    @SuppressWarnings("UnusedVariable") // picocli acts on it
    private boolean help;

    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Show the version and exit.")
    @SuppressWarnings("UnusedVariable") // picocli acts on it
    private boolean version;

    @Option(names = "--debug", description = "Show where in the program an error came from.", scope = ScopeType.INHERIT)
    private boolean debug;

    @Spec
    private @Nullable CommandSpec spec;

    private UllageMain() {}

    public static void main(String[] args) {
        // Output is in English and is read by scripts: some locales would put other digits into it.
        Locale.setDefault(Locale.ROOT);
        System.exit(commandLine(CliEnvironment.ofProcess()).execute(args));
    }

    /** The command with all its parts; {@code execute} answers with an {@link ExitCode}'s number. */
    static CommandLine commandLine(CliEnvironment environment) {
        UllageMain main = new UllageMain();
        CommandLine commandLine = new CommandLine(main)
                .addSubcommand(new DemoCommand(environment))
                .addSubcommand(new UpCommand(environment))
                .addSubcommand(new CoordinatorCommand(environment))
                .addSubcommand(new WorkerCommand(environment))
                .addSubcommand(new CommandLine(new RunCommand(environment)).setStopAtPositional(true))
                .addSubcommand(new StatusCommand(environment))
                .addSubcommand(new TopCommand(environment))
                .addSubcommand(new JobsCommand(environment))
                .addSubcommand(new CancelCommand(environment))
                .addSubcommand(new RequeueCommand(environment))
                .addSubcommand(new RanksCommand(environment))
                .addSubcommand(new ExplainCommand(environment))
                .addSubcommand(new ReportCommand(environment))
                .addSubcommand(new EventsCommand(environment))
                .addSubcommand(new PlanCommand(environment))
                .addSubcommand(new ReplayCommand(environment))
                .addSubcommand(new SimulateCommand(environment))
                .addSubcommand(new PlaceCommand(environment))
                .addSubcommand(EstimateCommand.commandLine(environment))
                .addSubcommand(new PredictCommand(environment))
                .addSubcommand(new CommandLine(new SetCommand())
                        .addSubcommand(new SetReserveCommand(environment))
                        .addSubcommand(new SetShareCommand(environment))
                        .addSubcommand(new SetPolicyCommand(environment))
                        .addSubcommand(new SetPriorityCommand(environment))
                        .addSubcommand(new SetLimitCommand(environment)))
                .addSubcommand(new DrainCommand(environment))
                .addSubcommand(new UndrainCommand(environment))
                .addSubcommand(new ReleaseCommand(environment))
                .addSubcommand(new DevicesCommand(environment))
                .addSubcommand(new DoctorCommand(environment))
                .addSubcommand(new CertsCommand(environment))
                .addSubcommand(new CompletionCommand(environment))
                .addSubcommand(new TokenCommand(environment));
        commandLine.getCommandSpec().usageMessage().exitCodeList(ExitCode.list());
        return commandLine
                .setOut(environment.out())
                .setErr(environment.err())
                .setColorScheme(CommandLine.Help.defaultColorScheme(
                        environment.terminal().hasColours() ? Ansi.ON : Ansi.OFF))
                .setParameterExceptionHandler(UllageMain::onUsageError)
                .setExecutionExceptionHandler(main::onFailure);
    }

    /** Without a subcommand. */
    @Override
    public void run() {
        if (spec != null) {
            throw new ParameterException(spec.commandLine(), "a command is missing");
        }
    }

    private static int onUsageError(ParameterException e, String[] args) {
        CommandLine command = e.getCommandLine();
        PrintWriter err = command.getErr();
        err.println("ullage: " + e.getMessage());
        CommandLine.UnmatchedArgumentException.printSuggestions(e, err);
        err.println("Try \"" + command.getCommandSpec().qualifiedName() + " --help\".");
        return ExitCode.USAGE.code();
    }

    private int onFailure(Exception e, CommandLine command, ParseResult parsed) {
        PrintWriter err = command.getErr();
        ExitCode exitCode = exitCode(e);
        if (exitCode == ExitCode.INTERNAL) {
            err.println(internalError(e) + (debug ? "" : "; --debug shows where"));
        } else {
            err.println("ullage: " + e.getMessage());
        }
        if (debug) {
            e.printStackTrace(err);
        }
        return exitCode.code();
    }

    /** What a command says of itself is for people; of anything else its kind tells more than its text. */
    static String internalError(Exception e) {
        return "ullage: internal error: " + (e instanceof CommandFailure ? e.getMessage() : e.toString());
    }

    private static ExitCode exitCode(Exception e) {
        if (e instanceof CommandFailure failure) {
            return failure.exitCode();
        }
        if (e instanceof SettingsException) {
            return ExitCode.BAD_SETTINGS;
        }
        if (e instanceof ApiException failure) {
            return switch (failure.reason()) {
                case UNREACHABLE -> ExitCode.UNREACHABLE;
                case REFUSED -> ExitCode.REFUSED;
                case UNUSABLE -> ExitCode.FAILED;
            };
        }
        return ExitCode.INTERNAL;
    }
}
