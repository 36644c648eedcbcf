package dev.ullage.worker.limits;

import static dev.ullage.common.testing.DeviceBuilder.aDevice;
import static dev.ullage.common.testing.Fixtures.token;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.protocol.WriteTimes;
import dev.ullage.common.testing.Reservations;
import dev.ullage.common.testing.TestClock;
import dev.ullage.worker.testing.LogWatch;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A ledger file after power cuts and after damage: the first may lose what nobody was told, the second is refused. */
class FileLedgerStoreTest {
    private static final int HEADER_BYTES = 8;

    @RegisterExtension
    final LogWatch log = new LogWatch();

    private final TestClock clock = new TestClock();
    private Path folder;
    private Path file;
    private final List<LedgerEvent> all = List.copyOf(LedgerEvents.samples().keySet());
    private final List<LedgerEvent> last = List.of(new LedgerEvent.TermsInForce(), new LedgerEvent.TokenSeen(token(7)));
    private final List<LedgerEvent> more = List.of(new LedgerEvent.TokenSeen(token(8)));

    @BeforeEach
    void nameTheFile(@TempDir Path temporary) {
        folder = temporary;
        file = folder.resolve("GPU-a.ledger");
    }

    /** Three records: the ends of each, and what they hold. */
    private List<Integer> threeRecords() throws IOException {
        List<Integer> ends = new ArrayList<>();
        try (FileLedgerStore store = FileLedgerStore.open(file, clock)) {
            assertThat(store.replay()).isEmpty();
            for (List<LedgerEvent> events : List.of(all.subList(0, 3), all.subList(3, 5), last)) {
                store.append(events);
                ends.add((int) Files.size(file));
            }
        }
        return ends;
    }

    private List<LedgerEvent> three() {
        return Stream.concat(all.subList(0, 5).stream(), last.stream()).toList();
    }

    private List<LedgerEvent> replayed() throws IOException {
        try (FileLedgerStore store = FileLedgerStore.open(file, clock)) {
            return store.replay();
        }
    }

    private static byte[] record(String payload) {
        byte[] bytes = payload.getBytes(UTF_8);
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return ByteBuffer.allocate(12 + bytes.length)
                .putInt(bytes.length)
                .putInt(~bytes.length)
                .putInt((int) crc.getValue())
                .put(bytes)
                .array();
    }

    @Test
    void theFormatIsExactlyThis() throws IOException {
        try (FileLedgerStore store = FileLedgerStore.open(file, clock)) {
            store.append(List.of(new LedgerEvent.TermsInForce()));
        }

        assertThat(HexFormat.of().formatHex(Files.readAllBytes(file)))
                .isEqualTo("554c4c4147450001" + "0000001c" + "ffffffe3" + "d83202b6"
                        + HexFormat.of().formatHex("[{\"event\":\"terms-in-force\"}]".getBytes(UTF_8)));
    }

    @Test
    void whatWasAppendedIsReplayedInOrderAndCounted() throws IOException {
        threeRecords();

        try (FileLedgerStore store = FileLedgerStore.open(file, clock)) {
            assertThat(store.replay()).isEqualTo(three());
            assertThat(store.length()).isEqualTo(7);
            store.append(more);
            assertThat(store.length()).isEqualTo(8);
        }
        assertThat(replayed()).hasSize(8).endsWith(more.get(0));
    }

    @Test
    void compactionLeavesOneSnapshotAndGoesOnFromThere() throws IOException {
        threeRecords();
        try (FileLedgerStore store = FileLedgerStore.open(file, clock)) {
            store.replay();
            store.compact(LedgerEvents.snapshot());
            assertThat(store.length()).isEqualTo(1);
            store.append(more);
            store.append(more);
        }

        assertThat(replayed()).containsExactly(LedgerEvents.snapshot(), more.get(0), more.get(0));
        assertThat(folder).isDirectoryContaining(path -> path.equals(file)).isDirectoryNotContaining("glob:**.next");
    }

    @Test
    void aCompactionCutShortLeavesTheOldFileInForce() throws IOException {
        threeRecords();
        Files.write(folder.resolve("GPU-a.ledger.next"), new byte[] {'U', 'L'});

        assertThat(replayed()).hasSize(7);
        try (FileLedgerStore store = FileLedgerStore.open(file, clock)) {
            store.replay();
            store.compact(LedgerEvents.snapshot());
        }
        assertThat(replayed()).containsExactly(LedgerEvents.snapshot());
    }

    @Test
    void aLastRecordCutAtAnyByteIsCutOff() throws IOException {
        List<Integer> ends = threeRecords();
        byte[] whole = Files.readAllBytes(file);
        for (int size = ends.get(1); size < whole.length; size++) {
            Files.write(file, Arrays.copyOf(whole, size));
            assertThat(replayed()).as("cut at %s", size).isEqualTo(all.subList(0, 5));
            assertThat(file).hasSize(ends.get(1));
        }
        assertThat(log.warnings()).first().asString().endsWith("reason=\"last record cut short; cut off\"");
    }

    @Test
    void whatIsAppendedAfterACutFollowsTheRecordsBefore() throws IOException {
        List<Integer> ends = threeRecords();
        Files.write(file, Arrays.copyOf(Files.readAllBytes(file), ends.get(1) + 20));
        try (FileLedgerStore store = FileLedgerStore.open(file, clock)) {
            store.replay();
            store.append(more);
            store.append(all.subList(7, 9));
        }

        assertThat(replayed()).hasSize(8).startsWith(all.get(0)).endsWith(all.get(8));
    }

    @Test
    void aFileThatWasCutWhileItWasMadeIsANewOne() throws IOException {
        for (int size = 0; size <= HEADER_BYTES; size++) {
            Files.write(file, Arrays.copyOf(new byte[] {'U', 'L', 'L', 'A', 'G', 'E', 0, 1}, size));
            try (FileLedgerStore store = FileLedgerStore.open(file, clock)) {
                assertThat(store.replay()).as("%s bytes", size).isEmpty();
                store.append(more);
            }
            assertThat(replayed()).as("%s bytes", size).isEqualTo(more);
        }
    }

    @Test
    void zerosAtTheEndAreSpaceThatWasNeverWritten() throws IOException {
        threeRecords();
        byte[] whole = Files.readAllBytes(file);
        for (int zeros : List.of(1, 11, 12, 13, 4096)) {
            Files.write(file, Arrays.copyOf(whole, whole.length + zeros));

            assertThat(replayed()).as("%s zeros", zeros).isEqualTo(three());
            assertThat(file).hasSize(whole.length);
        }
    }

    @Test
    void aLastRecordOfFullSizeWithAWrongChecksumIsAnUnfinishedWrite() throws IOException {
        List<Integer> ends = threeRecords();
        byte[] bytes = Files.readAllBytes(file);
        Arrays.fill(bytes, ends.get(2) - 30, ends.get(2), (byte) 0);
        Files.write(file, bytes);

        assertThat(replayed()).isEqualTo(all.subList(0, 5));
    }

    @Test
    void aFlippedBitAnywhereBeforeTheLastRecordIsRefusedWithTheOffsetOfItsRecord() throws IOException {
        List<Integer> ends = threeRecords();
        byte[] whole = Files.readAllBytes(file);
        for (int offset = 0; offset < ends.get(1); offset++) {
            int start = offset < HEADER_BYTES ? 0 : offset < ends.get(0) ? HEADER_BYTES : ends.get(0);
            byte[] damaged = whole.clone();
            damaged[offset] ^= (byte) (1 << offset % Byte.SIZE);
            Files.write(file, damaged);
            assertThatThrownBy(this::replayed)
                    .as("byte %s", offset)
                    .isInstanceOf(LedgerCorruptException.class)
                    .hasMessageStartingWith("ledger file " + file + " is corrupt at byte " + start + ": ");
            assertThat(file).hasBinaryContent(damaged);
        }
    }

    @Test
    void aDamagedLengthIsNeverTakenForAnUnfinishedWrite() throws IOException {
        List<Integer> ends = threeRecords();
        byte[] whole = Files.readAllBytes(file);
        int start = ends.get(1);
        for (int offset = start; offset < start + 8; offset++) {
            byte[] damaged = whole.clone();
            damaged[offset] ^= 0x10;
            Files.write(file, damaged);
            assertThatThrownBy(this::replayed)
                    .hasMessageContaining(
                            "at byte " + start + ": the length of a record does not match its complement");
        }
        for (int length : List.of(0, -1, Integer.MIN_VALUE, (16 << 20) + 1)) {
            ByteBuffer.wrap(whole).putInt(start, length).putInt(start + 4, ~length);
            Files.write(file, whole);
            assertThatThrownBy(this::replayed).as("length %s", length).isInstanceOf(LedgerCorruptException.class);
        }
    }

    // What a version from before an event cannot read; it says what, and what to do is not to move the file away.
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "added-later | {'event':'added-later','amount':1}",
                "URGENT      | {'event':'reservation-made','reservation':{'priority':'URGENT'}}"
            })
    void whatOnlyANewerVersionKnowsIsRefusedAsThatAndTheFileLeftAlone(String what, String event) throws IOException {
        byte[] record = record("[" + event.replace('\'', '"') + "]");
        byte[] content = ByteBuffer.allocate(HEADER_BYTES + record.length)
                .put(new byte[] {'U', 'L', 'L', 'A', 'G', 'E', 0, 1})
                .put(record)
                .array();
        Files.write(file, content);

        assertThatThrownBy(this::replayed)
                .isInstanceOf(LedgerNewerException.class)
                .hasMessage("ledger file " + file + " was written by a newer version of Ullage: the record at byte 8"
                        + " has \"" + what + "\" in it, which this one does not know. It was left untouched. Start the"
                        + " newer version again. To go back to this one, stop the newer worker in order (SIGTERM): it"
                        + " then leaves a file that this version can read; see \"Upgrading\" in docs/operations.md");
        assertThat(file).hasBinaryContent(content);
    }

    // The first versions know none of the events about reservations.
    @Test
    void aLedgerWhoseReservationsHaveEndedHasNoneOfTheirEventsOnceItIsCondensed() throws IOException {
        Reservation room = Reservations.reservation("job", 1, MemoryBytes.ofMebibytes(1));
        try (FileLedgerStore store = FileLedgerStore.open(file, clock)) {
            store.append(List.of(aDevice().opened(), new LedgerEvent.TokenSeen(token(7))));
            store.append(List.of(new LedgerEvent.ReservationMade(room)));
            store.append(List.of(new LedgerEvent.ReservationReleased(room.id())));
        }
        List<LedgerEvent> before = replayed();
        assertThat(Files.readString(file, ISO_8859_1)).contains("reservation-made");

        try (FileLedgerStore store = FileLedgerStore.open(file, clock)) {
            store.replay();
            store.condense();
        }

        assertThat(Files.readString(file, ISO_8859_1))
                .contains("\"event\":\"snapshot\"")
                .doesNotContain("reservation-");
        assertThat(replayed())
                .containsExactly(DeviceLedger.open(before.get(0))
                        .apply(before.subList(1, before.size()))
                        .snapshot());
    }

    @Test
    void aFileThatIsNoLedgerOrOfAnotherVersionIsRefusedAndLeftAlone() throws IOException {
        for (byte[] content : List.of(
                "hello, world".getBytes(UTF_8), "x".getBytes(UTF_8), new byte[] {'U', 'L', 'L', 'A', 'G', 'E', 0, 2})) {
            Files.write(file, content);
            assertThatThrownBy(this::replayed)
                    .isInstanceOf(LedgerCorruptException.class)
                    .hasMessage("ledger file " + file + " is corrupt at byte 0: not a ledger of a version this worker"
                            + " can read. It was left untouched. Stop the ranks on this device, move the file away and"
                            + " start again: ranks that still run then report what they hold.");
            assertThat(file).hasBinaryContent(content);
        }
    }

    @Test
    void aRecordThatIsWholeButCannotBeReadIsRefused() throws IOException {
        threeRecords();
        long start = Files.size(file);
        Files.write(file, record("[{\"amount\":1}]"), java.nio.file.StandardOpenOption.APPEND);

        assertThatThrownBy(this::replayed).hasMessageContaining("at byte " + start + ": not a list of events: ");
    }

    @Test
    void aFieldOfALaterVersionIsIgnored() throws IOException {
        threeRecords();
        Files.write(
                file,
                record("[{\"event\":\"terms-in-force\",\"later\":true}]"),
                java.nio.file.StandardOpenOption.APPEND);

        assertThat(replayed()).hasSize(8).endsWith(new LedgerEvent.TermsInForce());
    }

    // Goal: what is said is the disk's time of each append, and nothing else's. Method: a clock of which every reading
    // is later than the one before, the first pair by 200 us and the second by 4 ms.
    @Test
    void eachAppendIsMeasuredOnce() throws IOException {
        Clock reading = new ReadingsClock(0, 200, 10_000, 14_000);

        try (FileLedgerStore store = FileLedgerStore.open(file, reading)) {
            store.replay();
            assertThat(store.writeTimes()).isEqualTo(WriteTimes.NONE);
            store.append(more);
            store.append(last);

            assertThat(store.writeTimes())
                    .isEqualTo(WriteTimes.NONE.withOne(200).withOne(4_000));
        }
    }

    @Test
    void anAppendThatFailsIsNotMeasured() throws IOException {
        FileLedgerStore store = FileLedgerStore.open(file, clock);
        store.replay();
        store.close();

        assertThatThrownBy(() -> store.append(more)).isInstanceOf(IOException.class);

        assertThat(store.writeTimes()).isEqualTo(WriteTimes.NONE);
    }

    /** Says one time after the other, in microseconds, and has no more than these. */
    private static final class ReadingsClock extends Clock {
        private final Iterator<Long> micros;

        ReadingsClock(long... micros) {
            this.micros = LongStream.of(micros).iterator();
        }

        @Override
        public Instant instant() {
            return Instant.EPOCH.plus(Duration.of(micros.next(), ChronoUnit.MICROS));
        }

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            throw new UnsupportedOperationException("a test needs no other zone");
        }
    }
}
