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
 * A file with a secret that opens something. Made by the first process that needs it, readable by its user only, and
 * refused when somebody has opened it to others.
 */
final class TokenFile {
    private static final int BYTES = 32;
    private static final int MAX_FILE_BYTES = 1024;
    private static final Pattern FORM = Pattern.compile("[A-Za-z0-9_-]{43}");
    private static final FileAttribute<?> OWNER_ONLY_FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    private static final FileAttribute<?> OWNER_ONLY_FOLDER =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    private static final Set<PosixFilePermission> OF_OTHERS = PosixFilePermissions.fromString("---rwxrwx");

    private final Path file;
    private final String power;

    /** @param power what whoever has read it can do, for a message */
    TokenFile(Path file, String power) {
        this.file = file;
        this.power = power;
    }

    /** The secret; makes file and folder when they do not exist. Safe when two processes do so at once. */
    String loadOrCreate() throws IOException {
        if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            Files.createDirectories(file.toAbsolutePath().getParent(), OWNER_ONLY_FOLDER);
            create();
        }
        return read();
    }

    /** The secret; throws with what is wrong with the file and what to do. */
    String read() throws IOException {
        Set<PosixFilePermission> permissions;
        try {
            permissions = Files.getPosixFilePermissions(file);
        } catch (NoSuchFileException e) {
            throw new IOException("no token in " + file + ": it is made when a coordinator first starts", e);
        }
        if (permissions.stream().anyMatch(OF_OTHERS::contains)) {
            throw new IOException(file + " is open to others (" + PosixFilePermissions.toString(permissions)
                    + "): whoever has read it can " + power + "; delete it to have a new one made");
        }
        if (Files.size(file) > MAX_FILE_BYTES) {
            throw notAToken();
        }
        String text = Files.readString(file, StandardCharsets.ISO_8859_1).strip();
        if (!FORM.matcher(text).matches()) {
            throw notAToken();
        }
        return text;
    }

    /** Whether both are the same; takes as long for a wrong one as for the right one. */
    static boolean matches(String secret, String presented) {
        return MessageDigest.isEqual(
                secret.getBytes(StandardCharsets.UTF_8), presented.getBytes(StandardCharsets.UTF_8));
    }

    /** Written aside and then linked: nobody ever reads half a token, and of two makers one wins. */
    private void create() throws IOException {
        byte[] random = new byte[BYTES];
        new SecureRandom().nextBytes(random);
        String text = Base64.getUrlEncoder().withoutPadding().encodeToString(random);
        Path aside = Files.createTempFile(
                file.toAbsolutePath().getParent(), file.getFileName().toString(), ".new", OWNER_ONLY_FILE);
        try {
            Files.writeString(aside, text + "\n");
            Files.createLink(file, aside);
        } catch (FileAlreadyExistsException e) {
            // Somebody else was faster; theirs is the token.
        } finally {
            Files.deleteIfExists(aside);
        }
    }

    private IOException notAToken() {
        return new IOException(file + " holds no token; delete it to have a new one made");
    }
}
