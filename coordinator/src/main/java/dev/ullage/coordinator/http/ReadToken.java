package dev.ullage.coordinator.http;

import java.io.IOException;
import java.nio.file.Path;

/** Who can read the file of this secret may see the cluster, where {@code ullage.http.read-token-file} asks for it. */
public final class ReadToken {
    private static final String POWER = "see the cluster";

    private final String secret;

    private ReadToken(String secret) {
        this.secret = secret;
    }

    /** The token in {@code file}; makes it when it does not exist. Safe when two processes do so at once. */
    public static ReadToken loadOrCreate(Path file) throws IOException {
        return new ReadToken(new TokenFile(file, POWER).loadOrCreate());
    }

    /** The token in {@code file}; throws with what is wrong with it and what to do. */
    public static ReadToken read(Path file) throws IOException {
        return new ReadToken(new TokenFile(file, POWER).read());
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
        return "ReadToken[secret]";
    }
}
