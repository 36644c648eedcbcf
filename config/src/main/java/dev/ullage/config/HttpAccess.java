package dev.ullage.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What keeps the API from being read by anybody.
 *
 * @param tls when it answers over HTTPS
 * @param readTokenFile who reads must show the token in this file, or the operator's; empty: anybody who can connect
 *     reads
 */
public record HttpAccess(Optional<Tls> tls, Optional<Path> readTokenFile) {
    /** For an address that only this machine reaches. */
    public static final HttpAccess OPEN = new HttpAccess(Optional.empty(), Optional.empty());

    /**
     * PEM files.
     *
     * @param certificate made out to the names and addresses at which the API is asked; then those up to its authority
     * @param key its private key: PKCS#8, not encrypted, readable by its user only
     */
    public record Tls(Path certificate, Path key) {}

    /**
     * The rule that an API at {@code host} breaks with this, as a sentence about the setting {@code ullage.http.host}:
     * empty for a loopback address, and where there are both TLS and a credential.
     */
    public Optional<String> problemAt(String host) {
        List<String> missing = new ArrayList<>();
        if (tls.isEmpty()) {
            missing.add("TLS (ullage.http.tls.certificate and ullage.http.tls.key)");
        }
        if (readTokenFile.isEmpty()) {
            missing.add("a credential (ullage.http.read-token-file)");
        }
        return HttpSettings.isLoopback(host) || missing.isEmpty()
                ? Optional.empty()
                : Optional.of("must be a loopback address such as 127.0.0.1, because there is not "
                        + String.join(" nor ", missing)
                        + ": on any other address the API answers only with both");
    }
}
