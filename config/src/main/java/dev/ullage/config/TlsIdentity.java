package dev.ullage.config;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;

/**
 * A certificate with its private key: what one end of a TLS connection shows the other.
 *
 * @param origin the settings it came from
 * @param chain the certificate, then those up to its authority as far as they are in the file
 */
public record TlsIdentity(String origin, PrivateKey key, List<X509Certificate> chain) {
    private static final byte[] PROBE = {1, 2, 3};

    public TlsIdentity {
        chain = List.copyOf(chain);
    }

    /**
     * Reads both; throws with what is wrong with either, or that they do not belong together.
     *
     * @param origin the section of the settings that has {@code certificate} and {@code key}
     */
    public static TlsIdentity load(String origin, Path certificate, Path key) throws IOException {
        List<X509Certificate> chain = PemFiles.certificates(origin + ".certificate", certificate);
        PrivateKey secret = PemFiles.key(origin + ".key", key);
        if (!belongs(secret, chain.get(0).getPublicKey())) {
            throw new IOException(
                    origin + ".key = " + key + " is not the key of " + origin + ".certificate = " + certificate);
        }
        return new TlsIdentity(origin, secret, chain);
    }

    /** Throws unless the certificate is in force at {@code now}. */
    public void requireValid(Instant now) throws IOException {
        Instant from = chain.get(0).getNotBefore().toInstant();
        Instant until = chain.get(0).getNotAfter().toInstant();
        if (now.isBefore(from) || now.isAfter(until)) {
            throw new IOException(origin + ".certificate is in force from " + from + " to " + until + ", and it is "
                    + now + ": make a new one, or set the clock");
        }
    }

    private static boolean belongs(PrivateKey key, PublicKey certified) throws IOException {
        String signing =
                switch (key.getAlgorithm()) {
                    case "RSA" -> "SHA256withRSA";
                    case "EC" -> "SHA256withECDSA";
                    default -> "Ed25519";
                };
        try {
            Signature signature = Signature.getInstance(signing);
            signature.initSign(key);
            signature.update(PROBE);
            byte[] signed = signature.sign();
            signature.initVerify(certified);
            signature.update(PROBE);
            return signature.verify(signed);
        } catch (GeneralSecurityException e) {
            // A key of another kind than the certificate's.
            return false;
        }
    }

    /** No key in any log. */
    @Override
    public String toString() {
        return "TlsIdentity[" + origin + ", " + chain.get(0).getSubjectX500Principal() + "]";
    }
}
