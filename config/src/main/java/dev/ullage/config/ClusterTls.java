package dev.ullage.config;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;

/**
 * What a node of an encrypted cluster shows the others, and whom it lets in. All files are PEM.
 *
 * @param certificate the node's own, issued by {@code ca} itself; all nodes' have one subject name in common
 * @param key its private key: RSA, PKCS#8, not encrypted, readable by its user only
 * @param ca who issued the certificates of all nodes
 */
public record ClusterTls(Path certificate, Path key, Path ca) {

    /**
     * Looks at the files before anything is started with them, because the transport reads them late and says little.
     *
     * @throws IOException with the setting, the file and what is wrong with it
     */
    public void check(Instant now) throws IOException {
        TlsIdentity identity = TlsIdentity.load("ullage.cluster.tls", certificate, key);
        identity.requireValid(now);
        if (!identity.key().getAlgorithm().equals("RSA")) {
            throw new IOException("ullage.cluster.tls.key = " + key + " is an "
                    + identity.key().getAlgorithm() + " key: the transport takes RSA only");
        }
        if (identity.chain().size() > 1) {
            throw new IOException("ullage.cluster.tls.certificate = " + certificate + " holds "
                    + identity.chain().size() + " certificates: the transport takes the node's own only, issued by the"
                    + " authority of ullage.cluster.tls.ca itself");
        }
        List<X509Certificate> authorities = PemFiles.certificates("ullage.cluster.tls.ca", ca);
        if (authorities.size() > 1) {
            throw new IOException("ullage.cluster.tls.ca = " + ca + " holds " + authorities.size()
                    + " certificates: it must be one authority");
        }
        requireIssued(identity.chain().get(0), authorities.get(0));
    }

    private void requireIssued(X509Certificate node, X509Certificate authority) throws IOException {
        try {
            node.verify(authority.getPublicKey());
        } catch (GeneralSecurityException e) {
            throw new IOException(
                    "ullage.cluster.tls.certificate = " + certificate + " was not issued by the authority of"
                            + " ullage.cluster.tls.ca = " + ca + " but by \"" + node.getIssuerX500Principal()
                            + "\", or by another of that name: no node would let this one in",
                    e);
        }
    }
}
