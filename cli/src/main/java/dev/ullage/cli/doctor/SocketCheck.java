package dev.ullage.cli.doctor;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Whether the socket that the ranks connect to can be made. */
final class SocketCheck implements Check {
    private static final String NAME = "rank socket";
    private static final String FILE = "ranks.sock";

    /** {@code sun_path} has 108 bytes, the last one a zero. */
    private static final int MAX_PATH_BYTES = 107;

    private static final String REMEDY =
            "set --state, or ullage.node.state-dir, to a short path that can be written to";

    @Override
    public Finding look(Machine machine) {
        Path folder = machine.stateFolder().toAbsolutePath().normalize();
        Path socket = folder.resolve(FILE);
        int length = socket.toString().getBytes(StandardCharsets.UTF_8).length;
        if (length > MAX_PATH_BYTES) {
            return Finding.fail(
                    NAME,
                    "%s has %d bytes, a socket's path has at most %d".formatted(socket, length, MAX_PATH_BYTES),
                    REMEDY);
        }
        Path existing = folder;
        while (!machine.exists(existing) && existing.getParent() != null) {
            existing = existing.getParent();
        }
        return machine.isWritableFolder(existing)
                ? Finding.pass(NAME, socket.toString())
                : Finding.fail(NAME, socket + " cannot be made: " + existing + " cannot be written to", REMEDY);
    }
}
