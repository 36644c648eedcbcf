package dev.ullage.worker.probe;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.worker.probe.NvmlRecording.Answer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads a recording, in full before it complains. Pure; lives for one file. */
final class NvmlRecordingReader {
    static final String FORMAT = "ullage-nvml-1";

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final int MAX_CALLS = 100_000;
    /** A function, the device in parentheses right behind it, and after a blank any remark. */
    private static final Pattern CALL = Pattern.compile("(\\w+)(?:\\(([^)]*)\\))?(?:\\s.*)?");

    private static final Pattern SOURCE = Pattern.compile(" \\(start marker at \\[Source.*|\\[Source: [^\\]]*\\]");

    private static final Set<String> OF_NO_DEVICE = Set.of(NvmlShape.INIT, NvmlShape.DRIVER, NvmlShape.DEVICES);

    private final NvmlFields root;
    private final List<String> problems;
    private final Map<String, List<Answer>> answers = new TreeMap<>();
    private int devices = 1;

    private NvmlRecordingReader(JsonNode root) {
        this.problems = new ArrayList<>();
        this.root = new NvmlFields(root, "", problems);
    }

    static NvmlRecording read(String json) throws NvmlRecordingException {
        JsonNode root;
        try {
            root = MAPPER.readTree(json);
        } catch (JsonProcessingException e) {
            throw new NvmlRecordingException(List.of("it is not JSON: " + place(e) + why(e)));
        }
        return new NvmlRecordingReader(root).read();
    }

    /** A limit of the parser, as on nesting, has no place. */
    private static String place(JsonProcessingException e) {
        return Optional.ofNullable(e.getLocation())
                .map(at -> "line %d, column %d: ".formatted(at.getLineNr(), at.getColumnNr()))
                .orElse("");
    }

    /** Without the parser's words about itself. */
    private static String why(JsonProcessingException e) {
        String line = e.getOriginalMessage().lines().findFirst().orElse("");
        return SOURCE.matcher(line).replaceAll("");
    }

    private NvmlRecording read() throws NvmlRecordingException {
        root.textIfAny("format")
                .filter(format -> !format.equals(FORMAT))
                .ifPresent(format -> root.wrong("format", "'" + FORMAT + "', the only one this version reads"));
        if (root.node().has("fn")) {
            call(root);
        } else if (root.node().has("calls")) {
            int calls = root.size("calls", MAX_CALLS);
            for (int i = 0; i < calls; i++) {
                call(root.at("calls", i));
            }
        } else {
            problems.add("it has neither 'calls' nor 'fn', so it is no recording of NVML");
        }
        Optional<HostMemory> host = root.node().has("host") ? host(root.at("host")) : Optional.empty();
        CudaFacts cuda = cuda(root.at("cuda"));
        root.textIfAny("driver").ifPresent(version -> add(NvmlRecording.key(NvmlShape.DRIVER), "version", version));
        root.textIfAny("device_name").ifPresent(this::nameAll);
        if (!problems.isEmpty()) {
            throw new NvmlRecordingException(problems);
        }
        return new NvmlRecording(answers, devices, host, cuda);
    }

    private void nameAll(String name) {
        for (int index = 0; index < devices; index++) {
            add(NvmlRecording.key(NvmlShape.NAME_CALL, NvmlTarget.card(index)), "name", name);
        }
    }

    private void add(String key, String field, String text) {
        ObjectNode fields = JsonNodeFactory.instance.objectNode().put(field, text);
        answers.putIfAbsent(key, List.of(new Answer(OptionalInt.of(NvmlReturn.SUCCESS.code()), "", fields)));
    }

    private void call(NvmlFields call) {
        Optional<String> fn = call.textIfAny("fn");
        if (fn.isEmpty()) {
            call.wrong("fn", "there");
            return;
        }
        Matcher function = CALL.matcher(fn.get());
        Optional<NvmlShape<?>> shape = function.matches() ? NvmlShape.of(function.group(1)) : Optional.empty();
        if (shape.isEmpty()) {
            call.wrong("fn", "a function of NVML that Ullage calls in a round of readings");
            return;
        }
        OptionalInt code = code(call);
        if (code.equals(OptionalInt.of(NvmlReturn.SUCCESS.code()))) {
            shape.get().check(call);
        }
        Answer answer = new Answer(code, call.textIfAny("why").orElse("as recorded"), call.node());
        String name = function.group(1);
        if (OF_NO_DEVICE.contains(name)) {
            add(NvmlRecording.key(name), answer);
            return;
        }
        String written = Optional.ofNullable(function.group(2)).orElse("0");
        List<NvmlTarget> targets = NvmlTarget.parse(written, name.equals(NvmlShape.SLICE));
        if (targets.isEmpty()) {
            call.wrong("fn", NvmlTarget.RULE + " in its parentheses");
        }
        for (NvmlTarget target : targets) {
            devices = Math.max(devices, target.index() + 1);
            add(NvmlRecording.key(name, target), answer);
        }
    }

    /** Empty for a call that had not come back, and for one that makes no sense, which is a problem. */
    private static OptionalInt code(NvmlFields call) {
        JsonNode code = call.node().path("rc");
        if (code.isNull() || (code.canConvertToInt() && code.isIntegralNumber() && code.intValue() >= 0)) {
            return code.isNull() ? OptionalInt.empty() : OptionalInt.of(code.intValue());
        }
        call.wrong("rc", "the whole number that the call answered, or null when it had not come back");
        return OptionalInt.empty();
    }

    private void add(String key, Answer answer) {
        answers.computeIfAbsent(key, unknown -> new ArrayList<>()).add(answer);
    }

    private Optional<HostMemory> host(NvmlFields fields) {
        long total = fields.amount("memTotalBytes");
        long available = fields.amount("memAvailableBytes");
        if (total <= 0 || available < 0 || available > total) {
            problems.add("host: memTotalBytes must be above 0 and memAvailableBytes at most that");
            return Optional.empty();
        }
        return Optional.of(new HostMemory(MemoryBytes.of(total), MemoryBytes.of(available)));
    }

    private CudaFacts cuda(NvmlFields fields) {
        if (fields.node().isMissingNode()) {
            return CudaFacts.none("CUDA's answer is not in the recording");
        }
        String description = fields.text("description");
        Map<String, Boolean> integrated = new TreeMap<>();
        fields.node().path("integrated").properties().forEach(entry -> {
            if (entry.getValue().isBoolean()) {
                integrated.put(entry.getKey(), entry.getValue().booleanValue());
            } else {
                fields.at("integrated").wrong(entry.getKey(), "true or false");
            }
        });
        NvmlFields of = fields.at("totalBytes");
        Map<String, MemoryBytes> totals = new TreeMap<>();
        of.node().fieldNames().forEachRemaining(id -> amount(of, id).ifPresent(bytes -> totals.put(id, bytes)));
        return new RecordedCuda(description, integrated, totals);
    }

    private static Optional<MemoryBytes> amount(NvmlFields fields, String name) {
        long bytes = fields.amount(name);
        if (bytes < 1) {
            fields.wrong(name, "more than 0 bytes");
        }
        return bytes < 1 ? Optional.empty() : Optional.of(MemoryBytes.of(bytes));
    }

    private record RecordedCuda(String description, Map<String, Boolean> integrated, Map<String, MemoryBytes> totals)
            implements CudaFacts {
        @Override
        public Optional<Boolean> isIntegrated(DeviceId device) {
            return Optional.ofNullable(integrated.get(device.value()));
        }

        @Override
        public Optional<MemoryBytes> total(DeviceId device) {
            return Optional.ofNullable(totals.get(device.value()));
        }

        @Override
        public List<DeviceId> numbered() {
            return List.of();
        }
    }
}
