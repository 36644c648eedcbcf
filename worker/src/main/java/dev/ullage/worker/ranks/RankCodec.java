package dev.ullage.worker.ranks;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.ledger.Order;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NeedsRestart;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankEnforcement.Overhead;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.common.protocol.TurnPlan.RankTurn;
import dev.ullage.worker.ranks.BadMessageException.Code;
import dev.ullage.worker.turns.TurnAnswer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** The JSON lines of the rank socket. Thread safe. */
final class RankCodec {
    static final int VERSION = 1;

    /** Whole numbers up to here are exact in every JSON reader. */
    private static final long MAX_NUMBER = (1L << 53) - 1;

    /** More than any device has; the sums over all ranks of a worker stay far from an overflow. */
    private static final long MAX_BYTES = 1L << 50;

    private static final int MAX_TEXT_LENGTH = 200;
    private static final int MAX_REASON_LENGTH = 400;
    private static final int MAX_SHOWN_LENGTH = 40;

    private final ObjectMapper mapper = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private final int snapshotSteps;

    /** @param snapshotSteps what a rank is told: steps between two snapshots, 0 for none */
    RankCodec(int snapshotSteps) {
        this.snapshotSteps = snapshotSteps;
    }

    RankMessage parse(byte[] line) throws BadMessageException {
        JsonNode node;
        try {
            node = mapper.readTree(line);
        } catch (IOException e) {
            throw bad("not JSON: " + excerpt(line));
        }
        if (node == null || !node.isObject()) {
            throw bad("not a JSON object: " + excerpt(line));
        }
        Fields fields = new Fields(node);
        try {
            return parse(fields);
        } catch (IllegalArgumentException e) {
            throw bad(String.valueOf(e.getMessage()));
        }
    }

    private static RankMessage parse(Fields fields) throws BadMessageException {
        String type = fields.text("type");
        return switch (type) {
            case "hello" -> hello(fields);
            case "confirm" -> confirm(fields);
            case "usage" ->
                new RankMessage.Usage(new RankUse(
                        fields.optionalBytes("allocatedBytes"),
                        fields.optionalBytes("reservedBytes"),
                        fields.optionalBytes("peakAllocatedBytes"),
                        fields.optionalBytes("peakReservedBytes"),
                        fields.optionalNumber("refusals").orElse(0)));
            case "phase-summary" -> WatchLines.summary(fields);
            case "snapshot" -> WatchLines.snapshot(fields);
            case "cache-released" -> WatchLines.released(fields);
            case "report" -> ReportLines.report(fields);
            case "oom" -> OomLines.ranOut(fields);
            case "directive-applied" -> OomLines.applied(fields);
            case "bye" -> new RankMessage.Bye();
            case "attach" -> new RankMessage.Attach(fields.text("session"), fields.text("token"));
            case "phase" -> phaseEntered(fields);
            case "turn" -> new RankMessage.TurnAsked(fields.number("id"));
            case "turn-released" -> new RankMessage.TurnReleased(fields.number("id"));
            default -> new RankMessage.NotKnown(shown("type", type), OptionalLong.empty());
        };
    }

    private static RankMessage.Confirm confirm(Fields fields) {
        long sequence = fields.number("sequence");
        MemoryBytes inForce = fields.bytes("limitBytes");
        return new RankMessage.Confirm(
                sequence,
                inForce,
                fields.optionalBytes("heldBytes"),
                // A means that only a newer worker knows is none that this one could count on.
                EnforcedBy.find(fields.text("enforcedBy")).orElse(EnforcedBy.ADVISORY),
                fields.object("needsRestart")
                        .map(part -> new NeedsRestart(inForce, part.bytes("limitBytes"), part.shortText("reason"))));
    }

    private static RankMessage.Hello hello(Fields fields) throws BadMessageException {
        long version = fields.number("version");
        if (version != VERSION) {
            throw new BadMessageException(
                    Code.BAD_VERSION, "this worker speaks version " + VERSION + ", the client " + version);
        }
        List<EnforcedBy> canEnforce = new ArrayList<>();
        for (String label : fields.texts("canEnforce")) {
            EnforcedBy.find(label).ifPresent(canEnforce::add);
        }
        RankFacts facts = new RankFacts(
                fields.countIfKnown("worldSize"),
                fields.countIfKnown("localRank"),
                fields.shortText("launcher"),
                fields.optionalCount("restart"),
                fields.optionalShortText("framework"),
                canEnforce,
                fields.optionalShortText("policy"));
        RankId rank = new RankId(new JobId(fields.text("job")), fields.count("rank"));
        if (facts.worldSize().isPresent() && rank.rank() >= facts.worldSize().getAsInt()) {
            throw bad("rank " + rank.rank() + " is not below worldSize "
                    + facts.worldSize().getAsInt());
        }
        Optional<RankMessage.InForce> inForce = fields.object("inForce")
                .map(part -> new RankMessage.InForce(part.number("sequence"), part.bytes("limitBytes")));
        return new RankMessage.Hello(
                rank,
                fields.number("pid"),
                namespace(fields),
                facts,
                new RankMessage.DeviceWish(
                        fields.optionalText("visibleDevices"),
                        fields.optionalText("device"),
                        fields.optionalText("deviceOrder"),
                        fields.optionalText("containerDevices")),
                inForce,
                fields.optionalBytes("heldBytes"),
                fields.optionalBytes("turnBytes"),
                fields.optionalNumber("turnAsk").orElse(0),
                fields.object("directive").flatMap(OomLines::directive),
                fields.object("planned").map(PlannedLines::planned));
    }

    private static Optional<RankMessage.Namespace> namespace(Fields fields) {
        OptionalLong id = fields.optionalNumber("pidNamespace");
        OptionalLong startTicks = fields.optionalNumber("startTicks");
        return id.isPresent() && startTicks.isPresent()
                ? Optional.of(new RankMessage.Namespace(id.getAsLong(), startTicks.getAsLong()))
                : Optional.empty();
    }

    private static RankMessage phaseEntered(Fields fields) {
        String name = fields.text("phase");
        OptionalLong step = fields.optionalNumber("step");
        OptionalLong id = fields.optionalNumber("id");
        return phase(name)
                .<RankMessage>map(phase -> new RankMessage.PhaseEntered(phase, step, id))
                .orElseGet(() -> new RankMessage.NotKnown(shown("phase", name), id));
    }

    /** Empty: only a newer client knows it. */
    static Optional<Phase> phase(String name) {
        for (Phase phase : Phase.values()) {
            if (phase.name().equals(name)) {
                return Optional.of(phase);
            }
        }
        return Optional.empty();
    }

    /** For the log: one short line, whatever the client wrote. */
    static String shown(String what, String name) {
        String line = name.replaceAll("\\p{Cntrl}", "?");
        return what + " " + (line.length() <= MAX_SHOWN_LENGTH ? line : line.substring(0, MAX_SHOWN_LENGTH) + "...");
    }

    /** @param localRank the number this worker gave the rank, where its launcher does not say one */
    byte[] welcome(
            SessionHandle handle, NodeId node, DeviceInfo device, Optional<MemoryUse> memory, OptionalInt localRank) {
        ObjectNode json = message("welcome")
                .put("version", VERSION)
                .put("session", handle.id())
                .put("token", handle.token())
                .put("device", device.id().value())
                .put("deviceIndex", device.index())
                .put("deviceName", device.name())
                .put("deviceKind", device.kind().label())
                .put("node", node.value())
                .put("snapshotSteps", snapshotSteps)
                .put("reports", true);
        memory.ifPresentOrElse(
                use -> json.put("deviceTotalBytes", use.total().value()), () -> json.putNull("deviceTotalBytes"));
        localRank.ifPresent(number -> json.put("localRank", number));
        return line(json);
    }

    byte[] limits(Order order, Optional<Overhead> overhead) {
        ObjectNode json = message("limits").put("sequence", order.sequence());
        ObjectNode limits = json.putObject("limitBytes");
        for (Phase phase : Phase.values()) {
            limits.put(phase.name(), order.limits().in(phase).value());
        }
        overhead.ifPresent(beside ->
                json.put("overheadBytes", beside.bytes().value()).put("overheadProvisional", beside.provisional()));
        return line(json);
    }

    /** Asks a rank to give its cache back at its next phase change. */
    byte[] releaseCache() {
        return line(message("release-cache"));
    }

    /** @param resumed whether the job was told before this process of it was known */
    byte[] directive(JobDirective directive, boolean resumed) {
        ObjectNode json = message("directive").put("resumed", resumed);
        OomLines.put(json, directive);
        return line(json);
    }

    byte[] turns(Optional<RankTurn> turn, Duration deadline) {
        ObjectNode json = message("turns").put("deadlineMillis", deadline.toMillis());
        ObjectNode bytes = json.putObject("turnBytes");
        turn.ifPresent(offered -> offered.phases()
                .forEach(phase -> bytes.put(phase.name(), offered.burst().value())));
        return line(json);
    }

    byte[] turn(long id, TurnAnswer answer) {
        ObjectNode json = message("turn").put("id", id);
        answer.burst().ifPresentOrElse(burst -> json.put("turnBytes", burst.value()), () -> json.putNull("turnBytes")
                .put("reason", answer.reason()));
        return line(json);
    }

    byte[] error(BadMessageException e) {
        return line(message("error").put("code", e.code().name()).put("message", e.getMessage()));
    }

    byte[] attached() {
        return line(message("attached"));
    }

    /** Written by hand: the only answer a training thread waits for. */
    byte[] entered(long id, long sequence, OptionalLong limitBytes) {
        String limit = limitBytes.isPresent() ? Long.toString(limitBytes.getAsLong()) : "null";
        return ("{\"type\":\"entered\",\"id\":" + id + ",\"sequence\":" + sequence + ",\"limitBytes\":" + limit + "}\n")
                .getBytes(StandardCharsets.UTF_8);
    }

    private ObjectNode message(String type) {
        return mapper.createObjectNode().put("type", type);
    }

    private byte[] line(ObjectNode json) {
        try {
            byte[] body = mapper.writeValueAsBytes(json);
            byte[] line = new byte[body.length + 1];
            System.arraycopy(body, 0, line, 0, body.length);
            line[body.length] = '\n';
            return line;
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a message of our own cannot be written", e);
        }
    }

    /**
     * What the rank wrote may be part of the message: it stays one short line, in the log as on the rank's terminal.
     */
    private static BadMessageException bad(String message) {
        String line = message.replaceAll("\\p{Cntrl}", "?");
        return new BadMessageException(
                Code.BAD_MESSAGE,
                line.length() <= MAX_REASON_LENGTH ? line : line.substring(0, MAX_REASON_LENGTH) + "...");
    }

    private static String excerpt(byte[] line) {
        String text = new String(line, StandardCharsets.UTF_8);
        return text.length() <= 80 ? text : text.substring(0, 80) + "...";
    }

    /** Typed access to the fields of one object; every failure names field, value and rule. */
    record Fields(JsonNode node) {

        String text(String name) {
            JsonNode value = node.path(name);
            if (!value.isTextual()) {
                throw new IllegalArgumentException(name + " must be a string, is " + shown(value));
            }
            return value.textValue();
        }

        String shortText(String name) {
            String value = text(name);
            if (value.length() > MAX_TEXT_LENGTH) {
                throw new IllegalArgumentException(
                        name + " must have at most " + MAX_TEXT_LENGTH + " characters, has " + value.length());
            }
            return value;
        }

        Optional<String> optionalShortText(String name) {
            return isAbsent(name) ? Optional.empty() : Optional.of(shortText(name));
        }

        Optional<String> optionalText(String name) {
            return isAbsent(name) ? Optional.empty() : Optional.of(text(name));
        }

        long number(String name) {
            JsonNode value = node.path(name);
            if (!value.isIntegralNumber() || !value.canConvertToLong() || value.longValue() < 0) {
                throw new IllegalArgumentException(name + " must be a whole number of 0 or more, is " + shown(value));
            }
            if (value.longValue() > MAX_NUMBER) {
                throw new IllegalArgumentException(name + " must be at most " + MAX_NUMBER + ", is " + value);
            }
            return value.longValue();
        }

        MemoryBytes bytes(String name) {
            long value = number(name);
            if (value > MAX_BYTES) {
                throw new IllegalArgumentException(name + " must be at most " + MAX_BYTES + " bytes, is " + value);
            }
            return MemoryBytes.of(value);
        }

        int count(String name) {
            long value = number(name);
            if (value > Integer.MAX_VALUE) {
                throw new IllegalArgumentException(name + " must be at most " + Integer.MAX_VALUE + ", is " + value);
            }
            return (int) value;
        }

        OptionalLong optionalNumber(String name) {
            return isAbsent(name) ? OptionalLong.empty() : OptionalLong.of(number(name));
        }

        OptionalLong optionalSigned(String name) {
            if (isAbsent(name)) {
                return OptionalLong.empty();
            }
            JsonNode value = node.path(name);
            if (!value.isIntegralNumber() || !value.canConvertToLong() || !isExact(value.longValue())) {
                throw new IllegalArgumentException(
                        name + " must be a whole number from -" + MAX_NUMBER + " to " + MAX_NUMBER + ", is " + value);
            }
            return OptionalLong.of(value.longValue());
        }

        private static boolean isExact(long value) {
            return value >= -MAX_NUMBER && value <= MAX_NUMBER;
        }

        OptionalInt countIfKnown(String name) {
            return isAbsent(name) ? OptionalInt.empty() : OptionalInt.of(count(name));
        }

        int optionalCount(String name) {
            return isAbsent(name) ? 0 : count(name);
        }

        Optional<MemoryBytes> optionalBytes(String name) {
            return isAbsent(name) ? Optional.empty() : Optional.of(bytes(name));
        }

        List<String> texts(String name) {
            if (isAbsent(name)) {
                return List.of();
            }
            List<String> texts = new ArrayList<>();
            JsonNode array = node.path(name);
            for (JsonNode element : array) {
                if (element.isTextual()) {
                    texts.add(element.textValue());
                }
            }
            if (!array.isArray() || texts.size() < array.size()) {
                throw new IllegalArgumentException(name + " must be a list of strings, is " + shown(array));
            }
            return texts;
        }

        /** A list that must be there, of whole numbers of 0 or more. */
        List<Integer> counts(String name) {
            JsonNode array = node.path(name);
            List<Integer> counts = new ArrayList<>();
            for (JsonNode element : array) {
                if (element.isInt() && element.intValue() >= 0) {
                    counts.add(element.intValue());
                }
            }
            if (!array.isArray() || counts.size() < array.size()) {
                throw new IllegalArgumentException(
                        name + " must be a list of whole numbers of 0 or more, is " + shown(array));
            }
            return counts;
        }

        Optional<Fields> object(String name) {
            if (isAbsent(name)) {
                return Optional.empty();
            }
            if (!node.path(name).isObject()) {
                throw new IllegalArgumentException(name + " must be an object, is " + shown(node.path(name)));
            }
            return Optional.of(new Fields(node.path(name)));
        }

        List<Fields> objects(String name) {
            if (isAbsent(name)) {
                return List.of();
            }
            List<Fields> objects = new ArrayList<>();
            JsonNode array = node.path(name);
            for (JsonNode element : array) {
                if (element.isObject()) {
                    objects.add(new Fields(element));
                }
            }
            if (!array.isArray() || objects.size() < array.size()) {
                throw new IllegalArgumentException(name + " must be a list of objects, is " + shown(array));
            }
            return objects;
        }

        boolean flag(String name) {
            if (!node.path(name).isBoolean()) {
                throw new IllegalArgumentException(name + " must be true or false, is " + shown(node.path(name)));
            }
            return node.path(name).booleanValue();
        }

        private boolean isAbsent(String name) {
            return node.path(name).isMissingNode() || node.path(name).isNull();
        }

        private static String shown(JsonNode value) {
            return value.isMissingNode() ? "absent" : value.toString();
        }
    }
}
