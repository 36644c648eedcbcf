package dev.ullage.cli;

import dev.ullage.cli.client.ApiClient;
import java.net.URI;
import java.net.URISyntaxException;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Where the coordinator's API is. */
public final class ServerOption {
    @Option(
            names = "--server",
            paramLabel = "URL",
            defaultValue = "http://127.0.0.1:7788",
            converter = Converter.class,
            description = "A node that runs a coordinator (default: ${DEFAULT-VALUE}).")
    private URI server = ApiClient.DEFAULT_SERVER;

    public ApiClient client() {
        return new ApiClient(server, ApiClient.DEFAULT_TIMEOUT);
    }

    private static final class Converter implements ITypeConverter<URI> {
        @Override
        public URI convert(String text) {
            try {
                URI uri = new URI(text);
                boolean isBare = uri.getRawPath() != null
                        && (uri.getRawPath().isEmpty() || uri.getRawPath().equals("/"))
                        && uri.getRawQuery() == null;
                if ("http".equals(uri.getScheme()) && uri.getHost() != null && isBare) {
                    return uri;
                }
            } catch (URISyntaxException e) {
                // Said below.
            }
            throw new TypeConversionException("must be http://HOST:PORT, not '" + text + "'");
        }
    }
}
