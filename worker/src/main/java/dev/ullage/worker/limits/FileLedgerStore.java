package dev.ullage.worker.limits;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.exc.InvalidFormatException;
import com.fasterxml.jackson.databind.exc.InvalidTypeIdException;
import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.protocol.WriteTimes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A ledger in one append-only file: an 8-byte header ({@code ULLAGE} and a 2-byte version), then one record for each
 * {@link #append}: length of the payload (4 bytes), its complement (4 bytes, so that a damaged length is never taken
 * for an unfinished write), CRC-32C of the payload (4 bytes), payload (a JSON array of events). Numbers are big-endian.
 * A record holds one whole decision: a crash keeps all of it or nothing.
 *
 * <p>A record cut short at the very end of the file is what a power cut leaves of a write that was never confirmed; it
 * is cut off with a warning. Anything else that does not add up is corruption and refused with its offset.
 */
public final class FileLedgerStore implements LedgerStore {
    private static final Logger LOG = LoggerFactory.getLogger(FileLedgerStore.class);
    private static final byte[] HEADER = {'U', 'L', 'L', 'A', 'G', 'E', 0, 1};
    private static final int RECORD_HEADER_BYTES = 12;
    private static final int MAX_RECORD_BYTES = 16 << 20;

    private final Path file;
    private final LedgerEventCodec codec = new LedgerEventCodec();
    private final Clock clock;
    private FileChannel channel;
    private long length;
    private WriteTimes writeTimes = WriteTimes.NONE;

    private FileLedgerStore(Path file, FileChannel channel, Clock clock) {
        this.file = file;
        this.channel = channel;
        this.clock = clock;
    }

    /**
     * Opens or creates the file. The caller holds the lock of the folder it lies in.
     *
     * @param clock what measures the writes
     */
    public static FileLedgerStore open(Path file, Clock clock) throws IOException {
        boolean isNew = !Files.exists(file) || isPartOfHeader(file);
        FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        if (isNew) {
            channel.truncate(0);
            writeFully(channel, ByteBuffer.wrap(HEADER));
            channel.force(true);
            forceFolder(file.resolveSibling("."));
        }
        return new FileLedgerStore(file, channel, clock);
    }

    /** What a power cut leaves of a file that was just being made: nothing was ever promised by it. */
    private static boolean isPartOfHeader(Path file) throws IOException {
        long size = Files.size(file);
        return size < HEADER.length && Arrays.equals(Files.readAllBytes(file), Arrays.copyOf(HEADER, (int) size));
    }

    @Override
    public List<LedgerEvent> replay() throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file));
        requireHeader(bytes);
        List<LedgerEvent> events = new ArrayList<>();
        while (bytes.hasRemaining()) {
            int start = bytes.position();
            if (isTornAt(bytes)) {
                LOG.warn("file={} offset={} reason=\"last record cut short; cut off\"", file, start);
                channel.truncate(start);
                channel.force(true);
                break;
            }
            events.addAll(read(bytes, start));
        }
        channel.position(channel.size());
        length = events.size();
        return events;
    }

    private void requireHeader(ByteBuffer bytes) throws IOException {
        byte[] header = new byte[Math.min(HEADER.length, bytes.remaining())];
        bytes.get(header);
        if (!Arrays.equals(header, HEADER)) {
            throw new LedgerCorruptException(file, 0, "not a ledger of a version this worker can read");
        }
    }

    /** Whether what is left is a record whose write did not finish. */
    private boolean isTornAt(ByteBuffer bytes) throws LedgerCorruptException {
        int start = bytes.position();
        if (bytes.remaining() < RECORD_HEADER_BYTES || isAllZeros(bytes)) {
            return true;
        }
        int size = bytes.getInt(start);
        if (size != ~bytes.getInt(start + Integer.BYTES) || size <= 0 || size > MAX_RECORD_BYTES) {
            throw new LedgerCorruptException(file, start, "the length of a record does not match its complement");
        }
        long end = (long) start + RECORD_HEADER_BYTES + size;
        return end > bytes.limit() || (end == bytes.limit() && !checksumHolds(bytes, start, size));
    }

    /** What a file system leaves where it grew the file but had not written the data yet. */
    private static boolean isAllZeros(ByteBuffer bytes) {
        for (int i = bytes.position(); i < bytes.limit(); i++) {
            if (bytes.get(i) != 0) {
                return false;
            }
        }
        return true;
    }

    private static boolean checksumHolds(ByteBuffer bytes, int start, int size) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.slice(start + RECORD_HEADER_BYTES, size));
        return (int) crc.getValue() == bytes.getInt(start + 2 * Integer.BYTES);
    }

    private List<LedgerEvent> read(ByteBuffer bytes, int start) throws IOException {
        int size = bytes.getInt(start);
        if (!checksumHolds(bytes, start, size)) {
            throw new LedgerCorruptException(file, start, "checksum of a record of " + size + " bytes does not match");
        }
        byte[] payload = new byte[size];
        bytes.position(start + RECORD_HEADER_BYTES).get(payload);
        try {
            return codec.decode(payload);
        } catch (InvalidTypeIdException e) {
            // The checksum holds, so a worker wrote it as it is.
            throw e.getTypeId() == null ? noEvents(start, e) : new LedgerNewerException(file, start, e.getTypeId());
        } catch (InvalidFormatException e) {
            boolean isNewer = e.getTargetType().isEnum();
            throw isNewer ? new LedgerNewerException(file, start, String.valueOf(e.getValue())) : noEvents(start, e);
        } catch (JsonProcessingException e) {
            throw noEvents(start, e);
        }
    }

    private LedgerCorruptException noEvents(int start, JsonProcessingException e) {
        return new LedgerCorruptException(file, start, "not a list of events: " + e.getOriginalMessage());
    }

    @Override
    public void append(List<LedgerEvent> events) throws IOException {
        ByteBuffer record = record(events);
        Instant begun = clock.instant();
        writeFully(channel, record);
        channel.force(false);
        writeTimes = writeTimes.withOne(Math.max(0, ChronoUnit.MICROS.between(begun, clock.instant())));
        length += events.size();
    }

    @Override
    public WriteTimes writeTimes() {
        return writeTimes;
    }

    @Override
    public void compact(LedgerEvent.Snapshot snapshot) throws IOException {
        Path next = file.resolveSibling(file.getFileName() + ".next");
        FileChannel replacement = FileChannel.open(
                next, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE);
        writeFully(replacement, ByteBuffer.wrap(HEADER));
        writeFully(replacement, record(List.of(snapshot)));
        replacement.force(true);
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        channel.close();
        channel = replacement;
        length = 1;
        forceFolder(file.resolveSibling("."));
    }

    private ByteBuffer record(List<LedgerEvent> events) throws IOException {
        byte[] payload = codec.encode(events);
        if (payload.length > MAX_RECORD_BYTES) {
            throw new IOException("a record of " + payload.length + " bytes is over the " + MAX_RECORD_BYTES
                    + " that ledger file " + file + " allows");
        }
        CRC32C crc = new CRC32C();
        crc.update(payload);
        return ByteBuffer.allocate(RECORD_HEADER_BYTES + payload.length)
                .putInt(payload.length)
                .putInt(~payload.length)
                .putInt((int) crc.getValue())
                .put(payload)
                .flip();
    }

    private static void writeFully(FileChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    /** Makes a created or renamed file survive a power cut. */
    private static void forceFolder(Path folder) throws IOException {
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public void condense() throws IOException {
        List<LedgerEvent> events = replay();
        if (events.size() > 1) {
            compact(DeviceLedger.open(events.get(0))
                    .apply(events.subList(1, events.size()))
                    .snapshot());
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
