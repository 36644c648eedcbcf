package dev.ullage.cli.certs;

import dev.ullage.config.PemFiles;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * An authority of one's own in a folder, and the certificates it issues. An authority that is there already issues
 * further ones. Nothing is ever overwritten; all files are for their user only.
 */
final class TestAuthority {
    static final String CERTIFICATE_FILE = "ca.crt";
    static final String KEY_FILE = "ca.key";

    private static final String ALIAS = "ca";
    private static final int AUTHORITY_DAYS = 3650;
    private static final int PASSWORD_BYTES = 24;
    private static final FileAttribute<?> OWNER_ONLY_FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    private static final FileAttribute<?> OWNER_ONLY_FOLDER =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    private final Path folder;

    TestAuthority(Path folder) {
        this.folder = folder;
    }

    /** Whether the folder has one; throws when it has half of one. */
    boolean exists() throws IOException {
        boolean hasCertificate = isThere(CERTIFICATE_FILE);
        if (hasCertificate != isThere(KEY_FILE)) {
            throw new IOException(folder.resolve(hasCertificate ? CERTIFICATE_FILE : KEY_FILE) + " is there but not "
                    + (hasCertificate ? KEY_FILE : CERTIFICATE_FILE) + ": an authority is both; choose another folder");
        }
        return hasCertificate;
    }

    /**
     * Makes the authority, if there is none, and a certificate with its key for each node.
     *
     * @param days how long the nodes' certificates are in force
     * @return the files that were written
     */
    List<Path> issue(List<NamedNode> nodes, int days) throws IOException {
        refuseToOverwrite(nodes);
        boolean isNew = !exists();
        Path scratch = Files.createTempDirectory("ullage-certs");
        try {
            char[] password = password();
            Path store = scratch.resolve("store.p12");
            KeyTool keytool = new KeyTool(store, new String(password));
            if (isNew) {
                keytool.generate(authorityArguments());
            } else {
                writeAuthority(store, password);
            }
            for (int i = 0; i < nodes.size(); i++) {
                keytool.generate(nodeArguments(nodes.get(i), "node-" + i, days));
            }
            return write(texts(load(store, password), password, nodes, isNew));
        } catch (GeneralSecurityException e) {
            throw new IOException("the certificates cannot be made: " + e.getMessage(), e);
        } finally {
            delete(scratch);
        }
    }

    private void refuseToOverwrite(List<NamedNode> nodes) throws IOException {
        List<String> there = new ArrayList<>();
        for (NamedNode node : nodes) {
            for (String file : List.of(node.certificateFile(), node.keyFile())) {
                if (isThere(file)) {
                    there.add(file);
                }
            }
        }
        if (!there.isEmpty()) {
            throw new FileAlreadyExistsException(folder + " has " + String.join(", ", there)
                    + " already: nothing was made, nothing is overwritten; remove them or choose another folder");
        }
    }

    private boolean isThere(String file) {
        return Files.exists(folder.resolve(file), LinkOption.NOFOLLOW_LINKS);
    }

    private static List<String> authorityArguments() {
        return List.of(
                "-alias", ALIAS,
                "-keyalg", "RSA",
                "-keysize", "3072",
                "-sigalg", "SHA256withRSA",
                "-dname", "CN=Ullage test authority",
                "-ext", "bc:c=ca:true,pathlen:0",
                "-ext", "ku:c=keyCertSign,cRLSign",
                "-validity", Integer.toString(AUTHORITY_DAYS));
    }

    private static List<String> nodeArguments(NamedNode node, String alias, int days) {
        return List.of(
                "-alias",
                alias,
                "-signer",
                ALIAS,
                "-keyalg",
                "RSA",
                "-keysize",
                "2048",
                "-sigalg",
                "SHA256withRSA",
                "-dname",
                "CN=" + node.name(),
                "-ext",
                "san=" + node.alternativeNames(),
                "-ext",
                "eku=serverAuth,clientAuth",
                "-ext",
                "ku:c=digitalSignature,keyEncipherment",
                "-validity",
                Integer.toString(days));
    }

    /** For one run: the store is gone after it. */
    private static char[] password() {
        byte[] random = new byte[PASSWORD_BYTES];
        new SecureRandom().nextBytes(random);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(random).toCharArray();
    }

    private void writeAuthority(Path store, char[] password) throws IOException, GeneralSecurityException {
        PrivateKey key = PemFiles.key("the authority's key", folder.resolve(KEY_FILE));
        List<X509Certificate> chain = PemFiles.certificates("the authority", folder.resolve(CERTIFICATE_FILE));
        KeyStore keys = KeyStore.getInstance("PKCS12");
        keys.load(null, password);
        keys.setKeyEntry(ALIAS, key, password, chain.toArray(X509Certificate[]::new));
        try (OutputStream out = Files.newOutputStream(store)) {
            keys.store(out, password);
        }
    }

    private static KeyStore load(Path store, char[] password) throws IOException, GeneralSecurityException {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, password);
        }
        return keys;
    }

    private static Map<String, String> texts(
            KeyStore keys, char[] password, List<NamedNode> nodes, boolean withAuthority)
            throws IOException, GeneralSecurityException {
        Map<String, String> texts = new LinkedHashMap<>();
        if (withAuthority) {
            texts.put(CERTIFICATE_FILE, certificate(keys, ALIAS));
            texts.put(KEY_FILE, key(keys, ALIAS, password));
        }
        for (int i = 0; i < nodes.size(); i++) {
            texts.put(nodes.get(i).certificateFile(), certificate(keys, "node-" + i));
            texts.put(nodes.get(i).keyFile(), key(keys, "node-" + i, password));
        }
        return texts;
    }

    private static String certificate(KeyStore keys, String alias) throws IOException, GeneralSecurityException {
        if (keys.getCertificate(alias) instanceof X509Certificate certificate) {
            return PemFiles.text(certificate);
        }
        throw new IOException("keytool made no certificate");
    }

    private static String key(KeyStore keys, String alias, char[] password)
            throws IOException, GeneralSecurityException {
        if (keys.getKey(alias, password) instanceof PrivateKey key) {
            return PemFiles.text(key);
        }
        throw new IOException("keytool made no key");
    }

    private List<Path> write(Map<String, String> texts) throws IOException {
        Files.createDirectories(folder, OWNER_ONLY_FOLDER);
        List<Path> written = new ArrayList<>();
        for (Map.Entry<String, String> text : texts.entrySet()) {
            Path file = Files.createFile(folder.resolve(text.getKey()), OWNER_ONLY_FILE);
            Files.writeString(file, text.getValue(), StandardCharsets.US_ASCII);
            written.add(file);
        }
        return written;
    }

    private static void delete(Path scratch) throws IOException {
        try (var files = Files.list(scratch)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(scratch);
    }
}
