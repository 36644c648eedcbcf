package dev.ullage.cli.node;

import dev.ullage.cli.ExitCode;

/** Why a node cannot start: the message says what to do, the code goes to the shell. */
public final class NodeStartException extends Exception {
    private static final long serialVersionUID = 1L;

    private final ExitCode exitCode;

    NodeStartException(ExitCode exitCode, String message, Throwable cause) {
        super(message, cause);
        this.exitCode = exitCode;
    }

    public ExitCode exitCode() {
        return exitCode;
    }
}
