package dev.ullage.worker.probe;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What NVML answered in one round of readings somewhere, call by call: made by {@link NvmlRecorder}, or written by hand
 * from what somebody reported. docs/operations.md describes the file.
 */
public final class NvmlRecording {
    /** What a call answered when it was made; in the order of the calls where it was made several times. */
    record Answer(OptionalInt code, String why, JsonNode fields) {}

    private final Map<String, List<Answer>> answers;
    private final int devices;
    private final Optional<HostMemory> host;
    private final CudaFacts cuda;

    /**
     * @param answers by function and target, as {@link #key} writes them
     * @param devices how many cards it is about
     */
    NvmlRecording(Map<String, List<Answer>> answers, int devices, Optional<HostMemory> host, CudaFacts cuda) {
        this.answers = answers;
        this.devices = devices;
        this.host = host;
        this.cuda = cuda;
    }

    /** @throws NvmlRecordingException with all that is wrong with it */
    public static NvmlRecording parse(String json) throws NvmlRecordingException {
        return NvmlRecordingReader.read(json);
    }

    static String key(String function) {
        return function + "()";
    }

    static String key(String function, NvmlTarget target) {
        return function + "(" + target + ")";
    }

    List<Answer> answers(String key) {
        return answers.getOrDefault(key, List.of());
    }

    int devices() {
        return devices;
    }

    Optional<HostMemory> host() {
        return host;
    }

    CudaFacts cuda() {
        return cuda;
    }

    /** Whether the call was ever made, for whichever device. */
    boolean has(String function) {
        return answers.keySet().stream().anyMatch(key -> key.startsWith(function + "("));
    }

    /** The driver's version. */
    public Optional<String> driver() {
        return answers(key(NvmlShape.DRIVER)).stream()
                .filter(answer -> answer.code().equals(OptionalInt.of(NvmlReturn.SUCCESS.code())))
                .map(answer -> answer.fields().path("version").asText())
                .findFirst();
    }

    /** What a recording written by hand leaves out and had to be made up, one sentence each. */
    public List<String> madeUp() {
        List<String> notes = new ArrayList<>();
        if (!has(NvmlShape.DEVICES)) {
            notes.add("the recording does not have %s: as many devices as it names are shown (%d)"
                    .formatted(NvmlShape.DEVICES, devices));
        }
        if (!has(NvmlShape.UUID_CALL)) {
            notes.add("the recording does not have %s: the UUIDs shown are made up".formatted(NvmlShape.UUID_CALL));
        }
        if (!has(NvmlShape.GRAPHICS) && !has(NvmlShape.GRAPHICS + "_v2") && !has(NvmlShape.GRAPHICS + "_v3")) {
            notes.add("the recording does not have %s: taken as not supported".formatted(NvmlShape.GRAPHICS));
        }
        return notes;
    }
}
