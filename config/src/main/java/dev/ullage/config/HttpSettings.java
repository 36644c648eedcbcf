package dev.ullage.config;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Where the coordinator answers operators.
 *
 * @param host a loopback address, or any other where {@code access} has both TLS and a credential
 * @param port 0: any free port
 * @param dcgmAliases whether the metrics are there under the names of NVIDIA's exporter too
 * @param stream for those who watch
 * @param access who may read
 * @param report what a report on a job reckons with
 */
public record HttpSettings(
        String host, int port, boolean dcgmAliases, StreamSettings stream, HttpAccess access, ReportSettings report) {
    private static final Pattern IP_LITERAL = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*");

    /** With the stream as shipped, for whoever reaches it. */
    public HttpSettings(String host, int port, boolean dcgmAliases) {
        this(host, port, dcgmAliases, StreamSettings.defaults());
    }

    /** With reports that reckon nothing in money. */
    public HttpSettings(String host, int port, boolean dcgmAliases, StreamSettings stream, HttpAccess access) {
        this(host, port, dcgmAliases, stream, access, ReportSettings.defaults());
    }

    /** For whoever reaches it. */
    public HttpSettings(String host, int port, boolean dcgmAliases, StreamSettings stream) {
        this(host, port, dcgmAliases, stream, HttpAccess.OPEN);
    }

    /**
     * Whether only processes of this machine can reach {@code host}. A name other than {@code localhost} is not looked
     * up: what it resolves to may change after the question.
     */
    public static boolean isLoopback(String host) {
        if (host.toLowerCase(Locale.ROOT).equals("localhost")) {
            return true;
        }
        if (!IP_LITERAL.matcher(host).matches()) {
            return false;
        }
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }
}
