package dev.ullage.cli;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** What the process ends with. Scripts rely on these: a number is never given another meaning. */
public enum ExitCode {
    OK(0, "done"),
    FAILED(1, "a check failed, or the answer cannot be used"),
    USAGE(2, "the command line cannot be understood"),
    NO_DEVICES(3, "no devices found"),
    BAD_SETTINGS(4, "the settings cannot be used"),
    UNREACHABLE(5, "no coordinator answers"),
    REFUSED(6, "refused: a change that is not allowed or of nothing known, or a device that another worker owns"),
    STATE_UNUSABLE(7, "the state folder cannot be used"),
    PORT_IN_USE(8, "the port is in use"),
    NOT_PLACED(9, "there was no room within the time that it was to be waited for"),
    INTERNAL(70, "internal error");

    private final int code;
    private final String meaning;

    ExitCode(int code, String meaning) {
        this.code = code;
        this.meaning = meaning;
    }

    public int code() {
        return code;
    }

    public String meaning() {
        return meaning;
    }

    /** All of them, for the help text. */
    static Map<String, String> list() {
        Map<String, String> list = new LinkedHashMap<>();
        Arrays.stream(values()).forEach(value -> list.put(" " + value.code, value.meaning));
        return list;
    }
}
