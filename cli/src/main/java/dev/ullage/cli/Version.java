package dev.ullage.cli;

import dev.ullage.common.protocol.Protocol;
import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** What {@code --version} says: as much as a report of a fault has to. */
final class Version implements IVersionProvider {
    private static final String BUILT = "/META-INF/maven/dev.ullage/ullage-cli/pom.properties";

    @Override
    public String[] getVersion() throws IOException {
        return new String[] {
            "ullage " + own() + " (protocol " + Protocol.VERSION + ", Pekko " + org.apache.pekko.Version.current()
                    + ", Java " + Runtime.version() + ")"
        };
    }

    /** The build writes it into the jar; without a jar there is none. */
    private static String own() throws IOException {
        try (InputStream built = Version.class.getResourceAsStream(BUILT)) {
            if (built == null) {
                return "of a working copy";
            }
            Properties properties = new Properties();
            properties.load(built);
            return properties.getProperty("version", "of a working copy");
        }
    }
}
