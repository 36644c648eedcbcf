package dev.ullage.coordinator.http;

import java.io.IOException;
import java.nio.file.Path;

/** Who can read the file of this secret may steer the cluster. */
public final class OperatorToken {
    private static final String FILE_NAME = "operator.token";
    private static final String POWER = "steer the cluster";

    private final String secret;

    private OperatorToken(String secret) {
        this.secret = secret;
    }

    /** Where the token of a state folder is. */
    public static Path file(Path stateDir) {
        return stateDir.resolve(FILE_NAME);
    }

    /** The token of a state folder; makes both when they do not exist. Safe when two processes do so at once. */
    public static OperatorToken loadOrCreate(Path stateDir) throws IOException {
        return new OperatorToken(new TokenFile(file(stateDir), POWER).loadOrCreate());
    }

    /** The token in {@code file}; throws with what is wrong with it and what to do. */
    public static OperatorToken read(Path file) throws IOException {
        return new OperatorToken(new TokenFile(file, POWER).read());
    }

    /** Whether {@code presented} is the token; takes as long for a wrong one as for the right one. */
    public boolean matches(String presented) {
        return TokenFile.matches(secret, presented);
    }

    /** The secret itself, for a request's header. */
    public String secret() {
        return secret;
    }

    @Override
    public String toString() {
        return "OperatorToken[secret]";
    }
}
