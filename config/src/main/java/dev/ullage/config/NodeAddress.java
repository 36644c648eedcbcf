package dev.ullage.config;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a node can be reached.
 *
 * @param host name, IPv4 address, or IPv6 address without brackets
 * @param port 1 to 65535
 */
public record NodeAddress(String host, int port) {
    private static final Pattern FORM = Pattern.compile("(?:\\[([0-9a-fA-F:.]+)]|([A-Za-z0-9._-]+)):(\\d{1,5})");

    public NodeAddress {
        if (host.isBlank() || port < 1 || port > 65_535) {
            throw new IllegalArgumentException("not the address of a node: '" + host + "', port " + port);
        }
    }

    /** Reads {@code host:port} or {@code [IPv6]:port}; throws {@link IllegalArgumentException} with the rule. */
    public static NodeAddress parse(String text) {
        Matcher matcher = FORM.matcher(text.strip());
        if (!matcher.matches()) {
            throw new IllegalArgumentException("must be host:port, for example 10.0.0.7:25520 or [fd00::7]:25520");
        }
        int port = Integer.parseInt(matcher.group(3));
        if (port < 1 || port > 65_535) {
            throw new IllegalArgumentException("must name a port from 1 to 65535");
        }
        String bracketed = matcher.group(1);
        return new NodeAddress(bracketed == null ? matcher.group(2) : bracketed, port);
    }

    /** {@code host:port}, with brackets around an IPv6 address: as in a URL. */
    @Override
    public String toString() {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }
}
