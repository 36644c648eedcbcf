package dev.ullage.config;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Set;

/**
 * Certificates and private keys in PEM files (RFC 7468), read and written. What is wrong is said with where the file's
 * name came from; never with what is in a key's file.
 */
public final class PemFiles {
    private static final int MAX_BYTES = 256 * 1024;
    private static final int LINE = 64;
    private static final String KEY = "PRIVATE KEY";
    private static final String CERTIFICATE = "CERTIFICATE";
    private static final Set<PosixFilePermission> OF_OTHERS = PosixFilePermissions.fromString("---rwxrwx");

    private PemFiles() {}

    /**
     * The certificates in {@code file}, at least one.
     *
     * @param origin the setting or option that names the file
     */
    public static List<X509Certificate> certificates(String origin, Path file) throws IOException {
        byte[] bytes = read(origin, file);
        try {
            List<? extends Certificate> all =
                    CertificateFactory.getInstance("X.509")
                            .generateCertificates(new ByteArrayInputStream(bytes))
                            .stream()
                            .toList();
            if (all.isEmpty()) {
                throw new IOException(origin + " = " + file + " holds no certificate");
            }
            return all.stream().map(X509Certificate.class::cast).toList();
        } catch (CertificateException e) {
            throw new IOException(origin + " = " + file + " holds no certificate: it must be PEM (X.509)", e);
        }
    }

    /** The private key in {@code file}: PKCS#8, not encrypted, and of no use to other users of this machine. */
    public static PrivateKey key(String origin, Path file) throws IOException {
        byte[] bytes = read(origin, file);
        Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(file);
        if (permissions.stream().anyMatch(OF_OTHERS::contains)) {
            throw new IOException(origin + " = " + file + " is open to others ("
                    + PosixFilePermissions.toString(permissions)
                    + "): whoever has read it can be this node; make a new key, with mode 0600");
        }
        String text = new String(bytes, StandardCharsets.US_ASCII);
        int start = text.indexOf(begin(KEY));
        int end = text.indexOf(end(KEY));
        if (start < 0 || end < start) {
            throw new IOException(
                    origin + " = " + file + " holds no private key in PKCS#8 (\"BEGIN PRIVATE KEY\"); convert another"
                            + " form with: openssl pkcs8 -topk8 -nocrypt -in OLD -out NEW");
        }
        byte[] der;
        try {
            der = Base64.getMimeDecoder()
                    .decode(text.substring(start + begin(KEY).length(), end));
        } catch (IllegalArgumentException e) {
            throw new IOException(origin + " = " + file + " holds a private key that cannot be decoded", e);
        }
        for (String algorithm : List.of("RSA", "EC", "Ed25519")) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(der));
            } catch (GeneralSecurityException e) {
                // Of another kind, or broken: said below when it is none of these.
            }
        }
        Arrays.fill(der, (byte) 0);
        throw new IOException(origin + " = " + file + " holds a private key that is neither RSA nor EC nor Ed25519");
    }

    /** A certificate as text. */
    public static String text(X509Certificate certificate) throws IOException {
        try {
            return text(CERTIFICATE, certificate.getEncoded());
        } catch (CertificateException e) {
            throw new IOException("a certificate cannot be encoded", e);
        }
    }

    /** A private key as text, not encrypted. */
    public static String text(PrivateKey key) {
        return text(KEY, key.getEncoded());
    }

    private static String text(String kind, byte[] der) {
        return begin(kind) + "\n"
                + Base64.getMimeEncoder(LINE, new byte[] {'\n'}).encodeToString(der) + "\n" + end(kind) + "\n";
    }

    private static byte[] read(String origin, Path file) throws IOException {
        if (!Files.isRegularFile(file) || !Files.isReadable(file)) {
            throw new IOException(origin + " = " + file
                    + (Files.exists(file) ? " is not a file that can be read" : " does not exist"));
        }
        if (Files.size(file) > MAX_BYTES) {
            throw new IOException(origin + " = " + file + " is longer than 256 KiB: it must be a PEM file");
        }
        return Files.readAllBytes(file);
    }

    private static String begin(String kind) {
        return "-----BEGIN " + kind + "-----";
    }

    private static String end(String kind) {
        return "-----END " + kind + "-----";
    }
}
