package dev.ullage.coordinator.journal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lines in a file that never grows past a size: before it would, it becomes {@code FILE.1}, that {@code FILE.2} and so
 * on, and the oldest goes. Only the owner may read them. Nothing is forced to the disk: after a crash of the machine
 * the newest lines may be missing, after one of the process they are there. Not thread safe.
 */
final class RotatedLines implements AutoCloseable {
    private static final Set<StandardOpenOption> OPEN =
            Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    private static final int SCANNED_AT_ONCE = 8192;

    private final Path file;
    private final long maxBytes;
    private final int files;
    private @Nullable FileChannel channel;
    private long size;

    /** @param files how many there are at most, the newest among them; 1 or more */
    RotatedLines(Path file, long maxBytes, int files) {
        this.file = file;
        this.maxBytes = maxBytes;
        this.files = files;
    }

    /** After a failure nothing of the line is left, and the next one tries again. */
    void append(byte[] line) throws IOException {
        FileChannel open = channel == null ? open() : channel;
        if (size > 0 && size + line.length > maxBytes) {
            open = rotated(open);
        }
        try {
            ByteBuffer bytes = ByteBuffer.wrap(line);
            long position = size;
            while (bytes.hasRemaining()) {
                position += open.write(bytes, position);
            }
            size = position;
        } catch (IOException e) {
            abandon(open, e);
            throw e;
        }
    }

    private FileChannel open() throws IOException {
        FileChannel open = FileChannel.open(
                file, OPEN, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        try {
            size = endOfLastLine(open);
            // What a crash left half written is no record, and would spoil the one after it.
            open.truncate(size);
            channel = open;
            return open;
        } catch (IOException e) {
            open.close();
            throw e;
        }
    }

    private FileChannel rotated(FileChannel open) throws IOException {
        open.close();
        channel = null;
        for (int older = files - 1; older > 0; older--) {
            Path from = older == 1 ? file : numbered(older - 1);
            if (Files.exists(from)) {
                Files.move(from, numbered(older), StandardCopyOption.REPLACE_EXISTING);
            }
        }
        if (files == 1) {
            Files.deleteIfExists(file);
        }
        return open();
    }

    private Path numbered(int number) {
        return file.resolveSibling(file.getFileName() + "." + number);
    }

    private void abandon(FileChannel open, IOException cause) {
        channel = null;
        try (open) {
            open.truncate(size);
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }

    private static long endOfLastLine(FileChannel open) throws IOException {
        long end = open.size();
        while (end > 0) {
            int length = (int) Math.min(SCANNED_AT_ONCE, end);
            ByteBuffer bytes = ByteBuffer.allocate(length);
            long start = end - length;
            while (bytes.hasRemaining() && open.read(bytes, start + bytes.position()) >= 0) {
                // until the block is read
            }
            for (int i = bytes.position() - 1; i >= 0; i--) {
                if (bytes.get(i) == '\n') {
                    return start + i + 1;
                }
            }
            end = start;
        }
        return 0;
    }

    @Override
    public void close() throws IOException {
        FileChannel open = channel;
        channel = null;
        if (open != null) {
            open.close();
        }
    }
}
