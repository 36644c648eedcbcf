package dev.ullage.cli.certs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The JDK's keytool as a child: Java itself has no public way to issue a certificate. */
final class KeyTool {
    /** The store's password by name: a child's arguments are for everybody to see, its environment is not. */
    private static final String PASSWORD_VARIABLE = "ULLAGE_CERTS_PASSWORD";

    private static final long PATIENCE_SECONDS = 120;

    private final Path store;
    private final String password;

    /** @param store a PKCS #12 file, in a folder of this user only */
    KeyTool(Path store, String password) {
        this.store = store;
        this.password = password;
    }

    /** Runs {@code keytool -genkeypair} with these and the store's arguments; throws with what it said. */
    void generate(List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(executable().toString(), "-genkeypair"));
        command.addAll(arguments);
        command.addAll(
                List.of("-keystore", store.toString(), "-storetype", "PKCS12", "-storepass:env", PASSWORD_VARIABLE));
        Path output = store.resolveSibling("keytool.out");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().put(PASSWORD_VARIABLE, password);
        try {
            Process process = builder.start();
            process.getOutputStream().close();
            boolean isOver = process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (!isOver) {
                process.destroyForcibly();
                throw new IOException("keytool did not end within " + PATIENCE_SECONDS + " s");
            }
            if (process.exitValue() != 0) {
                throw new IOException("keytool failed: "
                        + Files.readString(output, StandardCharsets.UTF_8).strip());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while keytool ran", e);
        }
    }

    private static Path executable() throws IOException {
        Path keytool = Path.of(System.getProperty("java.home"), "bin", "keytool");
        if (!Files.isExecutable(keytool)) {
            throw new IOException("this Java has no " + keytool + "; certificates can be made with any other tool too:"
                    + " docs/operations.md says what they need");
        }
        return keytool;
    }
}
