package dev.ullage.cli;

import dev.ullage.coordinator.http.ReadToken;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where the coordinator's API is, for a command that only looks. */
public final class ReadServerOption extends ServerOption {
    @Option(
            names = "--token-file",
            paramLabel = "FILE",
            description = "A token for a server that shows nothing without one (ullage.http.read-token-file).")
    private @Nullable Path tokenFile;

    /** Where that token is; empty: none is shown. */
    public Optional<Path> tokenFile() {
        return Optional.ofNullable(tokenFile);
    }

    @Override
    Optional<String> token() throws IOException {
        return tokenFile == null
                ? Optional.empty()
                : Optional.of(ReadToken.read(tokenFile).secret());
    }
}
