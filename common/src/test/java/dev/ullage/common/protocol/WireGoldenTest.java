package dev.ullage.common.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.typesafe.config.ConfigFactory;
import java.io.IOException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorRefResolver;
import org.apache.pekko.serialization.Serialization;
import org.apache.pekko.serialization.SerializationExtension;
import org.apache.pekko.serialization.jackson.JacksonObjectMapperProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import scala.util.Try;

/**
 * What the cluster's messages look like on the wire, and that they arrive as they were sent. The golden files are the
 * CBOR that is sent, written as JSON for people to compare; an actor's address is masked. A change of one is a change
 * of the protocol: it needs docs/protocol.md, the golden file ({@code -Dullage.golden.write=true} writes it) and this
 * test in one commit.
 */
final class WireGoldenTest {
    private static final Path GOLDEN = Path.of("src/test/resources/golden");
    private static final Path OLDER = Path.of("src/test/resources/golden-older");
    private static final String MASKED = "(actor)";

    private static ActorTestKit kit;
    private static Serialization serialization;
    private static ObjectMapper cbor;
    private static final ObjectMapper JSON = new ObjectMapper();
    private static List<WireMessage> full = List.of();
    private static List<WireMessage> sparse = List.of();

    @BeforeAll
    static void start() {
        kit = ActorTestKit.create("wire", ConfigFactory.load("wire-serialization"));
        serialization = SerializationExtension.get(kit.system());
        cbor = JacksonObjectMapperProvider.get(kit.system()).getOrCreate("jackson-cbor", Optional.empty());
        WireSamples samples = new WireSamples(
                kit.<ToCoordinator>createTestProbe().ref(),
                kit.<ToWorker>createTestProbe().ref(),
                kit.<ToOperator>createTestProbe().ref());
        full = samples.full();
        sparse = samples.sparse();
    }

    @AfterAll
    static void stop() {
        kit.shutdownTestKit();
    }

    static Stream<Sample> samples() {
        return Stream.concat(
                full.stream().map(message -> new Sample("full", message)),
                sparse.stream().map(message -> new Sample("sparse", message)));
    }

    record Sample(String kind, WireMessage message) {
        Path older() {
            return OLDER.resolve(file().getFileName());
        }

        Path file() {
            return GOLDEN.resolve(message.getClass().getSimpleName() + "." + kind + ".json");
        }

        @Override
        public String toString() {
            return message.getClass().getSimpleName() + " " + kind;
        }
    }

    // Goal: no message without samples. Method: the sealed interfaces name all of them.
    @Test
    void everyMessageHasAFullAndASparseSample() {
        Set<Class<?>> messages = Stream.of(WireMessage.class.getPermittedSubclasses())
                .flatMap(direction -> Stream.of(direction.getPermittedSubclasses()))
                .collect(Collectors.toSet());

        assertThat(full).extracting(Object::getClass).containsExactlyInAnyOrderElementsOf(messages);
        assertThat(sparse).extracting(Object::getClass).containsExactlyInAnyOrderElementsOf(messages);
    }

    @Test
    void noGoldenFileIsLeftOver() throws IOException {
        try (Stream<Path> files = Files.list(GOLDEN)) {
            assertThat(files)
                    .containsExactlyInAnyOrderElementsOf(
                            samples().map(Sample::file).toList());
        }
    }

    @ParameterizedTest
    @MethodSource("samples")
    void arrivesAsItWasSent(Sample sample) throws IOException {
        assertThat(read(write(sample.message()), sample.message().getClass())).isEqualTo(sample.message());
    }

    @ParameterizedTest
    @MethodSource("samples")
    void looksLikeItsGoldenFile(Sample sample) throws IOException {
        String actual = JSON.writerWithDefaultPrettyPrinter().writeValueAsString(masked(tree(sample))) + "\n";
        if (Boolean.getBoolean("ullage.golden.write")) {
            Files.writeString(sample.file(), actual);
        }
        assertThat(actual)
                .as("%s changed on the wire; see the class comment", sample)
                .isEqualTo(Files.readString(sample.file(), StandardCharsets.UTF_8));
    }

    // Goal: what an older build of the same version sent can be read. Method: the golden files are what it sent.
    @ParameterizedTest
    @MethodSource("samples")
    void itsGoldenFileIsRead(Sample sample) throws IOException {
        JsonNode golden = unmasked(JSON.readTree(sample.file().toFile()), tree(sample));

        assertThat(read(golden, sample.message().getClass())).isEqualTo(sample.message());
    }

    static Stream<Sample> samplesOfOlder() {
        return full.stream().map(message -> new Sample("full", message)).filter(sample -> Files.exists(sample.older()));
    }

    // Goal: nodes of an older version are understood, whatever was added since. Method: the files are what a version
    // from
    // before reservations, wishes and rounds sent; each value in them is there in what was read.
    @ParameterizedTest
    @MethodSource("samplesOfOlder")
    void whatAnOlderVersionSentIsReadWithAllThatItSays(Sample sample) throws IOException {
        JsonNode older = unmasked(JSON.readTree(sample.older().toFile()), tree(sample));
        Class<?> type = sample.message().getClass();

        WireMessage read = type.asSubclass(WireMessage.class).cast(read(older, type));

        assertThat(missing(cbor.readTree(cbor.writeValueAsBytes(older)), cbor.readTree(write(read)), ""))
                .isEmpty();
    }

    @Test
    void noFileOfAnOlderVersionIsLeftOver() throws IOException {
        try (Stream<Path> files = Files.list(OLDER)) {
            assertThat(files)
                    .isNotEmpty()
                    .containsExactlyInAnyOrderElementsOf(
                            samplesOfOlder().map(Sample::older).toList());
        }
    }

    /** Where what was sent is not, or is otherwise, in what was read. */
    private static List<String> missing(JsonNode sent, JsonNode read, String path) {
        List<String> missing = new ArrayList<>();
        if (sent.isObject()) {
            sent.properties()
                    .forEach(field -> missing.addAll(
                            missing(field.getValue(), read.path(field.getKey()), path + "/" + field.getKey())));
        } else if (sent.isArray() && sent.size() == read.size()) {
            for (int i = 0; i < sent.size(); i++) {
                missing.addAll(missing(sent.get(i), read.get(i), path + "/" + i));
            }
        } else if (!sent.equals(read)) {
            missing.add(path + ": " + sent + " is " + read);
        }
        return missing;
    }

    @ParameterizedTest
    @MethodSource("samples")
    void aFieldItDoesNotKnowIsIgnored(Sample sample) throws IOException {
        ObjectNode tree = tree(sample).put("addedLater", 1);

        assertThat(read(tree, sample.message().getClass())).isEqualTo(sample.message());
    }

    // Goal: a missing number is never read as 0, a missing part never as null, a missing Optional always as empty.
    // Method: leave out each field at any depth of the full sample in turn.
    @ParameterizedTest
    @MethodSource("samples")
    void aMissingFieldIsRefusedUnlessItIsOptional(Sample sample) throws IOException {
        Class<?> type = sample.message().getClass();
        for (Field field : fields("", type, tree(sample))) {
            ObjectNode tree = tree(sample);
            ((ObjectNode) tree.at(field.parent())).remove(field.name());
            if (field.isOptional()) {
                assertThat(read(tree, type)).as("without %s", field).isInstanceOf(type);
            } else {
                assertThatThrownBy(() -> read(tree, type))
                        .as("without %s", field)
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining(field.name());
            }
        }
    }

    private record Field(String parent, String name, Class<?> type) {
        private static final Set<Class<?>> OPTIONALS = Set.of(Optional.class, OptionalInt.class, OptionalLong.class);

        boolean isOptional() {
            return OPTIONALS.contains(type);
        }
    }

    private static List<Field> fields(String parent, Class<?> record, JsonNode node) {
        List<Field> fields = new ArrayList<>();
        for (RecordComponent component : record.getRecordComponents()) {
            String path = parent + "/" + component.getName();
            fields.add(new Field(parent, component.getName(), component.getType()));
            Type type = component.getGenericType();
            JsonNode value = node.get(component.getName());
            if (type instanceof ParameterizedType parameterized && component.getType() != ActorRef.class) {
                type = parameterized.getActualTypeArguments()[0];
                path = value.isArray() ? path + "/0" : path;
                value = value.isArray() ? value.path(0) : value;
            }
            if (type instanceof Class<?> nested && nested.isRecord() && value.isObject()) {
                fields.addAll(fields(path, nested, value));
            }
        }
        return fields;
    }

    private static byte[] write(WireMessage message) {
        return serialization.serialize(message).get();
    }

    private static Object read(byte[] bytes, Class<?> type) throws IOException {
        int serializer = serialization.serializerFor(type).identifier();
        Try<Object> read = serialization.deserialize(bytes, serializer, type.getName());
        if (read.isFailure()) {
            throw new IOException(read.failed().get());
        }
        return read.get();
    }

    private static Object read(JsonNode tree, Class<?> type) throws IOException {
        return read(cbor.writeValueAsBytes(tree), type);
    }

    private static ObjectNode tree(Sample sample) throws IOException {
        return (ObjectNode) cbor.readTree(write(sample.message()));
    }

    private static JsonNode masked(ObjectNode tree) {
        if (tree.has("replyTo")) {
            assertThat(ActorRefResolver.get(kit.system())
                            .resolveActorRef(tree.get("replyTo").textValue()))
                    .isNotNull();
            tree.set("replyTo", TextNode.valueOf(MASKED));
        }
        return tree;
    }

    private static JsonNode unmasked(JsonNode golden, ObjectNode sent) {
        if (golden.has("replyTo")) {
            assertThat(golden.get("replyTo").textValue()).isEqualTo(MASKED);
            ((ObjectNode) golden).set("replyTo", sent.get("replyTo"));
        }
        return golden;
    }
}
