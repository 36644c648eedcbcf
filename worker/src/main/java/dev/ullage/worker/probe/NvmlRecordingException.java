package dev.ullage.worker.probe;

import java.util.List;

/** A recording of NVML that cannot be used: everything that is wrong with it, each with its place in the file. */
public final class NvmlRecordingException extends Exception {
    private static final long serialVersionUID = 1L;

    private final List<String> problems;

    public NvmlRecordingException(List<String> problems) {
        super(String.join("; ", problems));
        this.problems = List.copyOf(problems);
    }

    public List<String> problems() {
        return problems;
    }
}
