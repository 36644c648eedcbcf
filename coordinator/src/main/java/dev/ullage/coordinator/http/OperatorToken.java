package dev.ullage.coordinator.http;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Who can read the file of this secret may steer the cluster. Made by the first process that needs it, readable by its
 * user only, and refused when somebody has opened it to others.
 */
public final class OperatorToken {
    private static final String FILE_NAME = "operator.token";
    private static final int BYTES = 32;
    private static final int MAX_FILE_BYTES = 1024;
    private static final Pattern FORM = Pattern.compile("[A-Za-z0-9_-]{43}");
    private static final FileAttribute<?> OWNER_ONLY_FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    private static final FileAttribute<?> OWNER_ONLY_FOLDER =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    private static final Set<PosixFilePermission> OF_OTHERS = PosixFilePermissions.fromString("---rwxrwx");

    private final String secret;

    private OperatorToken(String secret) {
        this.secret = secret;
    }

    /** Where the token of a state folder is. */
    public static Path file(Path stateDir) {
        return stateDir.resolve(FILE_NAME);
    }

    /** The token of a state folder; makes both when they do not exist. Safe when two processes do so at once. */
    public static OperatorToken loadOrCreate(Path stateDir) throws IOException {
        Path file = file(stateDir);
        if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            Files.createDirectories(stateDir, OWNER_ONLY_FOLDER);
            create(file);
        }
        return read(file);
    }

    /** The token in {@code file}; throws with what is wrong with it and what to do. */
    public static OperatorToken read(Path file) throws IOException {
        Set<PosixFilePermission> permissions;
        try {
            permissions = Files.getPosixFilePermissions(file);
        } catch (NoSuchFileException e) {
            throw new IOException("no token in " + file + ": it is made when a coordinator first starts", e);
        }
        if (permissions.stream().anyMatch(OF_OTHERS::contains)) {
            throw new IOException(file + " is open to others (" + PosixFilePermissions.toString(permissions)
                    + "): whoever has read it can steer the cluster; delete it to have a new one made");
        }
        if (Files.size(file) > MAX_FILE_BYTES) {
            throw notAToken(file);
        }
        String text = Files.readString(file, StandardCharsets.ISO_8859_1).strip();
        if (!FORM.matcher(text).matches()) {
            throw notAToken(file);
        }
        return new OperatorToken(text);
    }

    /** Whether {@code presented} is the token; takes as long for a wrong one as for the right one. */
    public boolean matches(String presented) {
        return MessageDigest.isEqual(bytes(secret), bytes(presented));
    }

    /** The secret itself, for a request's header. */
    public String secret() {
        return secret;
    }

    @Override
    public String toString() {
        return "OperatorToken[secret]";
    }

    /** Written aside and then linked: nobody ever reads half a token, and of two makers one wins. */
    private static void create(Path file) throws IOException {
        byte[] random = new byte[BYTES];
        new SecureRandom().nextBytes(random);
        String text = Base64.getUrlEncoder().withoutPadding().encodeToString(random);
        Path aside = Files.createTempFile(file.toAbsolutePath().getParent(), FILE_NAME, ".new", OWNER_ONLY_FILE);
        try {
            Files.writeString(aside, text + "\n");
            Files.createLink(file, aside);
        } catch (FileAlreadyExistsException e) {
            // Somebody else was faster; theirs is the token.
        } finally {
            Files.deleteIfExists(aside);
        }
    }

    private static IOException notAToken(Path file) {
        return new IOException(file + " holds no token; delete it to have a new one made");
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
