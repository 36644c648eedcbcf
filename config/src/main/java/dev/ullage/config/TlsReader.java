package dev.ullage.config;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** Reads the sections about TLS. */
final class TlsReader {
    private static final String CLUSTER = "ullage.cluster.tls.";
    private static final String HTTP = "ullage.http.tls.";

    private final SettingsReader reader;
    private final Map<String, String> environment;

    TlsReader(SettingsReader reader, Map<String, String> environment) {
        this.reader = reader;
        this.environment = environment;
    }

    /** What {@code transport} needs; files that nothing would use are a mistake, because they look like protection. */
    Optional<ClusterTls> cluster(Transport transport) {
        Optional<Path> certificate = clusterFile("certificate", transport);
        Optional<Path> key = clusterFile("key", transport);
        Optional<Path> ca = clusterFile("ca", transport);
        boolean isWhole = certificate.isPresent() && key.isPresent() && ca.isPresent();
        return isWhole && transport == Transport.TLS_TCP
                ? Optional.of(new ClusterTls(certificate.get(), key.get(), ca.get()))
                : Optional.empty();
    }

    /** What an API at {@code host} needs. */
    HttpAccess http(String host) {
        Optional<Path> certificate = file(HTTP + "certificate");
        Optional<Path> key = file(HTTP + "key");
        requireOther("certificate", certificate, key);
        requireOther("key", key, certificate);
        Optional<HttpAccess.Tls> tls = certificate.isPresent() && key.isPresent()
                ? Optional.of(new HttpAccess.Tls(certificate.get(), key.get()))
                : Optional.empty();
        HttpAccess access = new HttpAccess(tls, file("ullage.http.read-token-file"));
        Optional<String> problem = access.problemAt(host);
        reader.require("ullage.http.host", problem::isEmpty, problem::orElseThrow);
        return access;
    }

    private void requireOther(String name, Optional<Path> file, Optional<Path> other) {
        reader.require(
                HTTP + name,
                () -> file.isPresent() || other.isEmpty(),
                () -> "must be set: a certificate is of no use without its key, nor a key without its certificate");
    }

    private Optional<Path> clusterFile(String name, Transport transport) {
        boolean isNeeded = transport == Transport.TLS_TCP;
        Optional<Path> file = file(CLUSTER + name);
        reader.require(
                CLUSTER + name,
                () -> file.isPresent() == isNeeded,
                () -> isNeeded
                        ? "must be set with ullage.cluster.transport = tls-tcp; \"ullage certs\" makes files to try it"
                        : "has no use with ullage.cluster.transport = " + transport.label()
                                + ": nothing is encrypted; it must be tls-tcp");
        return file;
    }

    private Optional<Path> file(String key) {
        return reader.value(key, ValueParsers.optionalPath(environment));
    }
}
