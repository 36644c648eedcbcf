package dev.ullage.worker;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import dev.ullage.common.protocol.OperatorRecord;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The newest record of operators' wishes, in one file of the state folder that is always replaced as a whole. Written
 * once, read for years: names in it never change, fields are only added.
 *
 * <p>No promise rests on it, and every other worker keeps the same record. So a file that cannot be read is put aside
 * and said aloud, and the worker starts without; one that cannot be written is said aloud, and the memory's copy
 * counts.
 */
final class WishFile {
    static final String NAME = "operator-wishes.json";

    private static final Logger LOG = LoggerFactory.getLogger(WishFile.class);
    private static final int SCHEMA = 1;
    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .addModule(new Jdk8Module())
            .disable(MapperFeature.AUTO_DETECT_IS_GETTERS)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
            // A field that is not known is a newer version's: without it, it would be another record of the same stamp.
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    private final Path file;

    private record Content(int schema, OperatorRecord record) {}

    WishFile(Path stateDir) {
        this.file = stateDir.resolve(NAME);
    }

    /** @throws IOException when the file is there and cannot even be put aside */
    Optional<OperatorRecord> read() throws IOException {
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        try {
            Content content = MAPPER.readValue(Files.readAllBytes(file), Content.class);
            if (content.schema() == SCHEMA) {
                return Optional.of(content.record());
            }
            putAside("it is of schema " + content.schema() + ", this worker reads " + SCHEMA);
        } catch (JsonProcessingException e) {
            putAside(e.getOriginalMessage());
        }
        return Optional.empty();
    }

    private void putAside(String why) throws IOException {
        Path aside = file.resolveSibling(NAME + ".damaged");
        Files.move(file, aside, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        LOG.error(
                "file={} reason=\"what operators asked for cannot be read and was put aside; the other workers keep it"
                        + " too: {}\"",
                aside,
                why);
    }

    void write(OperatorRecord record) throws IOException {
        Path next = file.resolveSibling(NAME + ".next");
        try (FileChannel channel = FileChannel.open(
                next, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            ByteBuffer bytes = ByteBuffer.wrap(MAPPER.writeValueAsBytes(new Content(SCHEMA, record)));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(true);
        }
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        try (FileChannel folder = FileChannel.open(file.resolveSibling("."), StandardOpenOption.READ)) {
            folder.force(true);
        }
    }

    /** Writes each record that it is told; the disk may be slow, so it is to run where that harms nobody. */
    Behavior<OperatorRecord> writer() {
        return Behaviors.receiveMessage(record -> {
            try {
                write(record);
            } catch (IOException e) {
                LOG.error(
                        "file={} reason=\"what operators asked for is not on disk and would not survive a restart of"
                                + " this worker: {}\"",
                        file,
                        e.getMessage());
            }
            return Behaviors.same();
        });
    }
}
