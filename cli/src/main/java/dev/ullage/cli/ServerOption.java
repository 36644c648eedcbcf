package dev.ullage.cli;

import dev.ullage.cli.client.ApiAccess;
import dev.ullage.cli.client.ApiClient;
import dev.ullage.config.PemFiles;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Where the coordinator's API is, and whom it is believed from. */
public class ServerOption {
    @Option(
            names = "--server",
            paramLabel = "URL",
            defaultValue = "http://127.0.0.1:7788",
            converter = Converter.class,
            description = "A node that runs a coordinator: http:// or https:// (default: ${DEFAULT-VALUE}).")
    private URI server = ApiClient.DEFAULT_SERVER;

    @Option(
            names = "--ca",
            paramLabel = "FILE",
            description = "The authority that issued the server's certificate, as PEM (default: those Java knows).")
    private @Nullable Path ca;

    /** Asks that server; throws with what is wrong with a file. */
    public final ApiClient client() throws CommandFailure {
        try {
            return new ApiClient(server, ApiClient.DEFAULT_TIMEOUT, new ApiAccess(trust(), token()));
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.STATE_UNUSABLE, String.valueOf(e.getMessage()), e);
        }
    }

    /** What is shown to be allowed to read. */
    Optional<String> token() throws IOException {
        return Optional.empty();
    }

    private Optional<SSLContext> trust() throws IOException {
        return ca == null ? Optional.empty() : Optional.of(ApiAccess.trusting(PemFiles.certificates("--ca", ca)));
    }

    private static final class Converter implements ITypeConverter<URI> {
        @Override
        public URI convert(String text) {
            try {
                URI uri = new URI(text);
                boolean isBare = uri.getRawPath() != null
                        && (uri.getRawPath().isEmpty() || uri.getRawPath().equals("/"))
                        && uri.getRawQuery() == null
                        && uri.getRawUserInfo() == null;
                boolean isKnown = List.of("http", "https").contains(String.valueOf(uri.getScheme()));
                if (isKnown && uri.getHost() != null && isBare) {
                    return uri;
                }
            } catch (URISyntaxException e) {
                // Said below.
            }
            throw new TypeConversionException("must be http://HOST:PORT or https://HOST:PORT, not '" + text + "'");
        }
    }
}
