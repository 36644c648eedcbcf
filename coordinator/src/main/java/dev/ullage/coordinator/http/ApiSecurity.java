package dev.ullage.coordinator.http;

import dev.ullage.config.HttpAccess;
import dev.ullage.config.HttpSettings;
import dev.ullage.config.TlsIdentity;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/**
 * What the settings say of who may use the API, with the files read.
 *
 * @param operator opens everything
 * @param reader opens what only shows; empty: that is open
 * @param tls for HTTPS
 * @param names what the server may be called besides the names of loopback, in lower case; {@code *.} in front means
 *     any one label
 */
record ApiSecurity(
        OperatorToken operator, Optional<ReadToken> reader, Optional<SSLContext> tls, SortedSet<String> names) {
    private static final int DNS_NAME = 2;
    private static final int IP_ADDRESS = 7;
    private static final List<String> WILDCARDS = List.of("0.0.0.0", "::");

    /** Reads the files; throws with the setting and what is wrong with its file. */
    static ApiSecurity load(HttpSettings settings, OperatorToken operator, Instant now) throws IOException {
        HttpAccess access = settings.access();
        Optional<ReadToken> reader = Optional.empty();
        if (access.readTokenFile().isPresent()) {
            reader = Optional.of(readToken(access.readTokenFile().get()));
        }
        SortedSet<String> names = new TreeSet<>();
        if (!WILDCARDS.contains(settings.host())) {
            names.add(settings.host().toLowerCase(Locale.ROOT));
        }
        if (access.tls().isEmpty()) {
            return new ApiSecurity(operator, reader, Optional.empty(), names);
        }
        HttpAccess.Tls files = access.tls().get();
        TlsIdentity identity = TlsIdentity.load("ullage.http.tls", files.certificate(), files.key());
        identity.requireValid(now);
        names.addAll(namesOf(identity.chain().get(0)));
        return new ApiSecurity(operator, reader, Optional.of(context(identity)), names);
    }

    private static ReadToken readToken(Path file) throws IOException {
        try {
            return ReadToken.loadOrCreate(file);
        } catch (IOException e) {
            throw new IOException("ullage.http.read-token-file: " + e.getMessage(), e);
        }
    }

    private static SortedSet<String> namesOf(X509Certificate certificate) throws IOException {
        try {
            SortedSet<String> names = new TreeSet<>();
            Collection<List<?>> alternatives = certificate.getSubjectAlternativeNames();
            if (alternatives == null) {
                return names;
            }
            for (List<?> alternative : alternatives) {
                Object kind = alternative.get(0);
                if (kind.equals(DNS_NAME) || kind.equals(IP_ADDRESS)) {
                    names.add(String.valueOf(alternative.get(1)).toLowerCase(Locale.ROOT));
                }
            }
            return names;
        } catch (CertificateParsingException e) {
            throw new IOException("ullage.http.tls.certificate: its names cannot be read", e);
        }
    }

    private static SSLContext context(TlsIdentity identity) throws IOException {
        // Never leaves this method: the store is in memory.
        byte[] random = new byte[24];
        new SecureRandom().nextBytes(random);
        char[] password = Base64.getEncoder().encodeToString(random).toCharArray();
        try {
            KeyStore keys = KeyStore.getInstance("PKCS12");
            keys.load(null, password);
            keys.setKeyEntry("api", identity.key(), password, identity.chain().toArray(Certificate[]::new));
            KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            managers.init(keys, password);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(managers.getKeyManagers(), null, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException("ullage.http.tls cannot be used: " + e.getMessage(), e);
        }
    }

    /** Whether this server may be called so. A name that somebody else points here is not one of its own. */
    boolean answersFor(String host) {
        String name = host.toLowerCase(Locale.ROOT);
        int dot = name.indexOf('.');
        return HttpSettings.isLoopback(name)
                || names.contains(name)
                || (dot > 0 && names.contains("*" + name.substring(dot)));
    }

    String scheme() {
        return tls.isPresent() ? "https" : "http";
    }
}
