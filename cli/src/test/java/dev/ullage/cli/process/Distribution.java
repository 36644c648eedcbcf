package dev.ullage.cli.process;

import java.nio.file.Files;
import java.nio.file.Path;

/** The distribution under test, as the build has just packed it. */
final class Distribution {
    /** Debian's own interpreter, which has Debian's torch, whichever python3 comes first on the path. */
    static final String PYTHON = "/usr/bin/python3";

    private Distribution() {}

    static Path root() {
        Path root = Path.of(System.getProperty("ullage.dist", "target/dist")).toAbsolutePath();
        if (!Files.isExecutable(root.resolve("bin/ullage"))) {
            throw new IllegalStateException("no distribution at " + root + "; build it with: mvn package");
        }
        return root;
    }

    static String ullage() {
        return root().resolve("bin/ullage").toString();
    }

    static String pythonPath() {
        return root().resolve("python").toString();
    }
}
