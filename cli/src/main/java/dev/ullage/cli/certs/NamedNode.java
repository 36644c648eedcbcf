package dev.ullage.cli.certs;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A node that gets a certificate.
 *
 * @param name of the node and of its files
 * @param address where it is reached: a host name or an IPv4 address
 */
record NamedNode(String name, String address) {
    /** What all certificates are made out to: by it the nodes of a cluster know each other. */
    static final String CLUSTER_NAME = "ullage";

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9])?");
    private static final Pattern IPV4 = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}");

    /** From {@code NAME} or {@code NAME=ADDRESS}; throws {@link IllegalArgumentException} with the rule. */
    static NamedNode parse(String text) {
        int equals = text.indexOf('=');
        String name = equals < 0 ? text : text.substring(0, equals);
        String address = equals < 0 ? text : text.substring(equals + 1);
        if (!NAME.matcher(name).matches() || !NAME.matcher(address).matches()) {
            throw new IllegalArgumentException(
                    "'" + text + "' must be NAME or NAME=ADDRESS, each a host name or an IPv4"
                            + " address: letters, digits, dots and hyphens, 64 at most");
        }
        if (name.equals("ca")) {
            throw new IllegalArgumentException("'ca' cannot be a node's name: the authority's files are called so");
        }
        return new NamedNode(name, address);
    }

    /** The alternative names of its certificate, as keytool takes them. */
    String alternativeNames() {
        List<String> names = Stream.of(CLUSTER_NAME, name, address, "localhost", "127.0.0.1")
                .distinct()
                .map(text -> (IPV4.matcher(text).matches() ? "ip:" : "dns:") + text)
                .toList();
        return String.join(",", names);
    }

    String certificateFile() {
        return name + ".crt";
    }

    String keyFile() {
        return name + ".key";
    }
}
