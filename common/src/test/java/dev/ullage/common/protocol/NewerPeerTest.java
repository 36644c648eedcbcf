package dev.ullage.common.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.typesafe.config.ConfigFactory;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.EventSeverity;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.DeviceWatched;
import dev.ullage.common.protocol.ToCoordinator.SetPriority;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToWorker.DirectJob;
import dev.ullage.common.protocol.ToWorker.KeepWishes;
import java.io.IOException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.serialization.Serialization;
import org.apache.pekko.serialization.SerializationExtension;
import org.apache.pekko.serialization.jackson.JacksonObjectMapperProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What comes of a message of a newer peer, which has fields, values and messages that this version does not know. This
 * version is tomorrow's old one: nodes are upgraded one by one while jobs train.
 */
final class NewerPeerTest {
    private static final String UNKNOWN = "ADDED_LATER";

    private static ActorTestKit kit;
    private static Serialization serialization;
    private static ObjectMapper cbor;
    private static List<WireMessage> messages = List.of();

    @BeforeAll
    static void start() {
        kit = ActorTestKit.create("newer", ConfigFactory.load("wire-serialization"));
        serialization = SerializationExtension.get(kit.system());
        cbor = JacksonObjectMapperProvider.get(kit.system()).getOrCreate("jackson-cbor", Optional.empty());
        messages = new WireSamples(
                        kit.<ToCoordinator>createTestProbe().ref(),
                        kit.<ToWorker>createTestProbe().ref(),
                        kit.<ToOperator>createTestProbe().ref())
                .full();
    }

    @AfterAll
    static void stop() {
        kit.shutdownTestKit();
    }

    static Stream<Named> messages() {
        return messages.stream().map(Named::new);
    }

    record Named(WireMessage message) {
        @Override
        public String toString() {
            return message.getClass().getSimpleName();
        }
    }

    // Goal: fields may be added at any depth. Method: one is added to every object of the full sample at once.
    @ParameterizedTest
    @MethodSource("messages")
    void aFieldThatWasAddedIsIgnoredAtEveryDepth(Named named) throws IOException {
        ObjectNode tree = tree(named.message());
        JsonNode kept = isKept(named.message()) ? tree.remove("record") : null;
        objects(tree).forEach(object -> object.putObject("addedLater").put("value", 1));
        if (kept != null) {
            tree.set("record", kept);
        }

        assertThat(read(tree, named.message())).isEqualTo(named.message());
    }

    // Goal: a report is never lost to one value; an order is never half understood. Method: each value of an enum in
    // the full sample is replaced in turn.
    @ParameterizedTest
    @MethodSource("messages")
    void aValueThatWasAddedCostsNoReportAndSpoilsNoOrder(Named named) throws IOException {
        for (Place place : enumValues(named.message())) {
            ObjectNode tree = tree(named.message());
            place.in(tree);
            if (isObeyedOrKept(named.message())) {
                assertThatThrownBy(() -> read(tree, named.message()))
                        .as("%s", place)
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining(UNKNOWN);
            } else {
                assertThat(read(tree, named.message()))
                        .as("%s", place)
                        .isInstanceOf(named.message().getClass());
            }
        }
    }

    private static boolean isKept(WireMessage message) {
        return message instanceof KeepWishes || message instanceof ToCoordinator.WishesReported;
    }

    // Goal: whoever keeps a record under its stamp has all of it. Method: one field is added to each object in turn.
    @ParameterizedTest
    @MethodSource("messages")
    void aRecordWithAFieldThatWasAddedIsNotKept(Named named) throws IOException {
        int count = isKept(named.message())
                ? objects(tree(named.message()).get("record")).size()
                : 0;
        int refused = 0;
        for (int i = 0; i < count; i++) {
            ObjectNode tree = tree(named.message());
            ObjectNode object = objects(tree.get("record")).get(i);
            boolean isAmount = object.has("value") || object.has("epoch") || object.has("basisPoints");
            object.put("addedLater", 1);
            if (!isAmount) {
                assertThatThrownBy(() -> read(tree, named.message()))
                        .hasMessageContaining("\"addedLater\" is no part of a ");
                refused++;
            }
        }
        assertThat(refused > 3).isEqualTo(isKept(named.message()));
    }

    private static boolean isObeyedOrKept(WireMessage message) {
        return message instanceof ToWorker
                || message instanceof OperatorWrite
                || message instanceof ToCoordinator.SubmitRequest
                || message instanceof ToCoordinator.WishesReported;
    }

    // The test above would see none of them if the samples had none.
    @Test
    void theSamplesHaveEveryEnum() throws IOException {
        Set<String> seen = new TreeSet<>();
        for (WireMessage message : messages) {
            enumValues(message).stream().map(Place::type).forEach(seen::add);
        }
        assertThat(seen)
                .containsExactlyInAnyOrder(
                        "DeviceKind",
                        "EnforcedBy",
                        "EventSeverity",
                        "Extent",
                        "LeakState",
                        "OomKind",
                        "OomLevel",
                        "Phase",
                        "Priority",
                        "RolloutState",
                        "SampleState");
    }

    @Test
    void whatHoldsARankInAWayThatIsNotKnownCountsAsNothing() throws IOException {
        DeviceSampled sample = message(DeviceSampled.class);
        ObjectNode tree = tree(sample);
        ((ObjectNode) tree.at("/ranks/0")).put("enforcedBy", UNKNOWN);

        DeviceSampled read = (DeviceSampled) read(tree, sample);

        assertThat(read.ranks()).hasSameSizeAs(sample.ranks());
        assertThat(read.ranks().get(0).enforcedBy()).isEqualTo(EnforcedBy.ADVISORY);
        assertThat(read.ranks().get(0).use()).isEqualTo(sample.ranks().get(0).use());
    }

    @Test
    void aRankInAPhaseThatIsNotKnownIsLeftOutOfTheSampleAndTheDeviceStays() throws IOException {
        DeviceSampled sample = message(DeviceSampled.class);
        ObjectNode tree = tree(sample);
        ArrayNode ranks = (ArrayNode) tree.get("ranks");
        ranks.add(ranks.get(0).deepCopy());
        ((ObjectNode) tree.at("/ranks/0/activity")).put("phase", UNKNOWN);

        DeviceSampled read = (DeviceSampled) read(tree, sample);

        assertThat(read.ranks()).isEqualTo(sample.ranks());
        assertThat(read.memory()).isEqualTo(sample.memory());
        assertThat(read.problems()).isEqualTo(sample.problems());
    }

    @Test
    void aDeviceOfAKindThatIsNotKnownIsLeftOutAndTheNodeStays() throws IOException {
        WorkerAnnounced announced = message(WorkerAnnounced.class);
        ObjectNode tree = tree(announced);
        ((ObjectNode) tree.at("/devices/0")).put("kind", UNKNOWN);

        WorkerAnnounced read = (WorkerAnnounced) read(tree, announced);

        assertThat(read.devices())
                .isEqualTo(announced.devices().subList(1, announced.devices().size()));
        assertThat(read.wishes()).isEqualTo(announced.wishes());
        assertThat(read.replyTo()).isEqualTo(announced.replyTo());
    }

    @Test
    void aStateThatIsNotKnownIsNotFresh() throws IOException {
        DeviceWatched watched = message(DeviceWatched.class);
        ObjectNode tree = tree(watched);
        ((ObjectNode) tree.get("quality")).put("state", UNKNOWN);

        assertThat(((DeviceWatched) read(tree, watched)).quality().state()).isEqualTo(SampleState.STALE);
    }

    @Test
    void anEventOfASeverityThatIsNotKnownIsAWarning() throws IOException {
        ToOperator.Events events = message(ToOperator.Events.class);
        ObjectNode tree = tree(events);
        ((ObjectNode) tree.at("/events/0")).put("severity", UNKNOWN);

        assertThat(((ToOperator.Events) read(tree, events)).events().get(0).severity())
                .isEqualTo(EventSeverity.WARNING);
    }

    @Test
    void aStatusWithAValueThatIsNotKnownHasAllElse() throws IOException {
        ClusterStatus status = message(ClusterStatus.class);
        ObjectNode tree = tree(status);
        ((ObjectNode) tree.at("/rollouts/0")).put("state", UNKNOWN);

        ClusterStatus read = (ClusterStatus) read(tree, status);

        assertThat(read.rollouts())
                .isEqualTo(status.rollouts().subList(1, status.rollouts().size()));
        assertThat(read.nodes()).isEqualTo(status.nodes());
        assertThat(read.steering()).isEqualTo(status.steering());
    }

    // An empty priority takes a wish back: what is not understood must not mean that.
    @Test
    void aWriteThatIsNotUnderstoodIsNoOtherWrite() throws IOException {
        SetPriority write = message(SetPriority.class);
        ObjectNode tree = tree(write).put("priority", UNKNOWN);

        assertThatThrownBy(() -> read(tree, write)).hasMessageContaining("is no Priority that this version knows");
    }

    @Test
    void aDirectiveOfALevelThatIsNotKnownIsNotFollowed() throws IOException {
        DirectJob order = message(DirectJob.class);
        ObjectNode tree = tree(order);
        ((ObjectNode) tree.get("directive")).put("level", UNKNOWN);

        assertThatThrownBy(() -> read(tree, order)).hasMessageContaining("is no OomLevel that this version knows");
    }

    // A record that lost a part would have the stamp of the whole one, and might replace it everywhere.
    @Test
    void wishesThatAreNotUnderstoodAreNotKeptInPart() throws IOException {
        KeepWishes keep = message(KeepWishes.class);
        List<Place> priorities = enumValues(keep);

        assertThat(priorities).isNotEmpty();
        for (Place place : priorities) {
            ObjectNode tree = tree(keep);
            place.in(tree);
            assertThatThrownBy(() -> read(tree, keep)).hasMessageContaining(UNKNOWN);
        }
    }

    // What Pekko does with the failure, it does with any other: the message is dropped with a warning.
    @Test
    void aMessageThatIsNotKnownFailsLikeAnyOther() throws IOException {
        byte[] bytes = cbor.writeValueAsBytes(Map.of("node", Map.of("value", "n")));
        int serializer = serialization.serializerFor(DeviceSampled.class).identifier();
        String added = ToCoordinator.class.getName() + "$AddedLater";

        assertThat(serialization.deserialize(bytes, serializer, added).isFailure())
                .isTrue();
    }

    /** Where a value of an enum stands: a field of an object, or an entry of a list. */
    private record Place(String parent, String name, String type) {
        void in(ObjectNode tree) {
            JsonNode at = tree.at(parent);
            if (at instanceof ObjectNode object) {
                object.put(name, UNKNOWN);
            } else {
                ((ArrayNode) at).set(Integer.parseInt(name), TextNode.valueOf(UNKNOWN));
            }
        }
    }

    private static List<Place> enumValues(Object message) throws IOException {
        List<Place> places = new ArrayList<>();
        collect(message, "", places);
        return places;
    }

    private static void collect(Object part, String path, List<Place> places) {
        for (var component : part.getClass().getRecordComponents()) {
            collectValue(valueOf(component.getAccessor(), part), path, component.getName(), places);
        }
    }

    private static void collectValue(Object value, String parent, String name, List<Place> places) {
        if (value instanceof Optional<?> optional) {
            optional.ifPresent(content -> collectValue(content, parent, name, places));
        } else if (value instanceof Enum<?> constant) {
            places.add(new Place(parent, name, constant.getDeclaringClass().getSimpleName()));
        } else if (value instanceof List<?> list) {
            for (int i = 0; i < list.size(); i++) {
                collectValue(list.get(i), parent + "/" + name, String.valueOf(i), places);
            }
        } else if (value.getClass().isRecord()) {
            collect(value, parent + "/" + name, places);
        }
    }

    private static Object valueOf(Method accessor, Object part) {
        try {
            accessor.setAccessible(true);
            return accessor.invoke(part);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static List<ObjectNode> objects(JsonNode node) {
        List<ObjectNode> objects = new ArrayList<>();
        if (node instanceof ObjectNode object) {
            objects.add(object);
        }
        node.forEach(child -> objects.addAll(objects(child)));
        return objects;
    }

    private static <T> T message(Class<T> type) {
        return messages.stream()
                .filter(type::isInstance)
                .map(type::cast)
                .findFirst()
                .orElseThrow();
    }

    private static ObjectNode tree(WireMessage message) throws IOException {
        return (ObjectNode) cbor.readTree(serialization.serialize(message).get());
    }

    private static Object read(ObjectNode tree, WireMessage like) throws IOException {
        int serializer = serialization.serializerFor(like.getClass()).identifier();
        var read = serialization.deserialize(
                cbor.writeValueAsBytes(tree), serializer, like.getClass().getName());
        if (read.isFailure()) {
            throw new IOException(read.failed().get());
        }
        return read.get();
    }
}
