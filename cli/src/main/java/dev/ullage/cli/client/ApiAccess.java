package dev.ullage.cli.client;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * What a client shows a server, and which servers it believes.
 *
 * @param trust whose certificates are believed over HTTPS; empty: those that Java's own list of authorities issued
 * @param token for reading, where the server asks for one
 */
public record ApiAccess(Optional<SSLContext> trust, Optional<String> token) {
    /** For a server that lets everybody read. */
    public static final ApiAccess OPEN = new ApiAccess(Optional.empty(), Optional.empty());

    /** Believes servers with certificates of these authorities, and no others. */
    public static SSLContext trusting(List<X509Certificate> authorities) throws IOException {
        try {
            KeyStore trusted = KeyStore.getInstance("PKCS12");
            trusted.load(null, null);
            for (int i = 0; i < authorities.size(); i++) {
                trusted.setCertificateEntry("authority-" + i, authorities.get(i));
            }
            TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            managers.init(trusted);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, managers.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException("the authorities cannot be used: " + e.getMessage(), e);
        }
    }

    /** No secret in any log. */
    @Override
    public String toString() {
        return "ApiAccess[" + (trust.isPresent() ? "own authorities" : "Java's authorities")
                + (token.isPresent() ? ", a token]" : "]");
    }
}
