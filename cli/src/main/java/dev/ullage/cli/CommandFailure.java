package dev.ullage.cli;

/** A command ends without success for a reason that its user can do something about. */
public final class CommandFailure extends Exception {
    private static final long serialVersionUID = 1L;

    private final ExitCode exitCode;

    /** @param message what is wrong and what to do, in one line */
    public CommandFailure(ExitCode exitCode, String message) {
        super(message);
        this.exitCode = exitCode;
    }

    public CommandFailure(ExitCode exitCode, String message, Throwable cause) {
        super(message, cause);
        this.exitCode = exitCode;
    }

    public ExitCode exitCode() {
        return exitCode;
    }
}
