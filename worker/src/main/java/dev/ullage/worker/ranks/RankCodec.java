package dev.ullage.worker.ranks;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.ledger.Order;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankUse;
import dev.ullage.worker.ranks.BadMessageException.Code;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** The JSON lines of the rank socket. Thread safe. */
final class RankCodec {
    static final int VERSION = 1;

    private final ObjectMapper mapper = new ObjectMapper();

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
            case "confirm" ->
                new RankMessage.Confirm(
                        fields.number("sequence"),
                        MemoryBytes.of(fields.number("limitBytes")),
                        fields.bytes("heldBytes"),
                        EnforcedBy.ofLabel(fields.text("enforcedBy")));
            case "usage" ->
                new RankMessage.Usage(new RankUse(
                        fields.bytes("allocatedBytes"),
                        fields.bytes("reservedBytes"),
                        fields.bytes("peakAllocatedBytes"),
                        fields.bytes("peakReservedBytes"),
                        fields.optionalNumber("refusals").orElse(0)));
            case "bye" -> new RankMessage.Bye();
            case "attach" -> new RankMessage.Attach(fields.text("session"), fields.text("token"));
            case "phase" ->
                new RankMessage.PhaseEntered(
                        phase(fields.text("phase")), fields.optionalNumber("step"), fields.optionalNumber("id"));
            default -> throw bad("unknown type \"" + type + "\"");
        };
    }

    private static RankMessage.Hello hello(Fields fields) throws BadMessageException {
        long version = fields.number("version");
        if (version != VERSION) {
            throw new BadMessageException(
                    Code.BAD_VERSION, "this worker speaks version " + VERSION + ", the client " + version);
        }
        List<EnforcedBy> canEnforce = new ArrayList<>();
        for (String label : fields.texts("canEnforce")) {
            canEnforce.add(EnforcedBy.ofLabel(label));
        }
        RankFacts facts = new RankFacts(
                fields.count("worldSize"),
                fields.count("localRank"),
                fields.text("launcher"),
                (int) fields.optionalNumber("restart").orElse(0),
                fields.optionalText("framework"),
                canEnforce);
        RankId rank = new RankId(new JobId(fields.text("job")), fields.count("rank"));
        if (rank.rank() >= facts.worldSize()) {
            throw bad("rank " + rank.rank() + " is not below worldSize " + facts.worldSize());
        }
        Optional<RankMessage.InForce> inForce = fields.object("inForce")
                .map(part ->
                        new RankMessage.InForce(part.number("sequence"), MemoryBytes.of(part.number("limitBytes"))));
        return new RankMessage.Hello(
                rank,
                fields.number("pid"),
                facts,
                new RankMessage.DeviceWish(fields.optionalText("visibleDevices"), fields.optionalText("device")),
                inForce,
                fields.bytes("heldBytes"));
    }

    private static Phase phase(String name) {
        for (Phase phase : Phase.values()) {
            if (phase.name().equals(name)) {
                return phase;
            }
        }
        throw new IllegalArgumentException("unknown phase \"" + name + "\"; known: " + List.of(Phase.values()));
    }

    byte[] welcome(SessionHandle handle, NodeId node, DeviceInfo device, Optional<MemoryUse> memory) {
        ObjectNode json = message("welcome")
                .put("version", VERSION)
                .put("session", handle.id())
                .put("token", handle.token())
                .put("device", device.id().value())
                .put("deviceIndex", device.index())
                .put("deviceName", device.name())
                .put("deviceKind", device.kind().label())
                .put("node", node.value());
        memory.ifPresentOrElse(
                use -> json.put("deviceTotalBytes", use.total().value()), () -> json.putNull("deviceTotalBytes"));
        return line(json);
    }

    byte[] limits(Order order) {
        ObjectNode json = message("limits").put("sequence", order.sequence());
        ObjectNode limits = json.putObject("limitBytes");
        for (Phase phase : Phase.values()) {
            limits.put(phase.name(), order.limits().in(phase).value());
        }
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

    private static BadMessageException bad(String message) {
        return new BadMessageException(Code.BAD_MESSAGE, message);
    }

    private static String excerpt(byte[] line) {
        String text = new String(line, StandardCharsets.UTF_8);
        return text.length() <= 80 ? text : text.substring(0, 80) + "...";
    }

    /** Typed access to the fields of one object; every failure names field, value and rule. */
    private record Fields(JsonNode node) {

        String text(String name) {
            JsonNode value = node.path(name);
            if (!value.isTextual()) {
                throw new IllegalArgumentException(name + " must be a string, is " + shown(value));
            }
            return value.textValue();
        }

        Optional<String> optionalText(String name) {
            return isAbsent(name) ? Optional.empty() : Optional.of(text(name));
        }

        long number(String name) {
            JsonNode value = node.path(name);
            if (!value.isIntegralNumber() || !value.canConvertToLong() || value.longValue() < 0) {
                throw new IllegalArgumentException(name + " must be a whole number of 0 or more, is " + shown(value));
            }
            return value.longValue();
        }

        int count(String name) {
            long value = number(name);
            if (value > Integer.MAX_VALUE) {
                throw new IllegalArgumentException(name + " is too large: " + value);
            }
            return (int) value;
        }

        OptionalLong optionalNumber(String name) {
            return isAbsent(name) ? OptionalLong.empty() : OptionalLong.of(number(name));
        }

        Optional<MemoryBytes> bytes(String name) {
            return isAbsent(name) ? Optional.empty() : Optional.of(MemoryBytes.of(number(name)));
        }

        List<String> texts(String name) {
            List<String> texts = new ArrayList<>();
            for (JsonNode element : node.path(name)) {
                texts.add(element.asText());
            }
            return texts;
        }

        Optional<Fields> object(String name) {
            return isAbsent(name) ? Optional.empty() : Optional.of(new Fields(node.path(name)));
        }

        private boolean isAbsent(String name) {
            return node.path(name).isMissingNode() || node.path(name).isNull();
        }

        private static String shown(JsonNode value) {
            return value.isMissingNode() ? "absent" : value.toString();
        }
    }
}
