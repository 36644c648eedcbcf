package dev.ullage.worker.probe;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigInteger;
import java.util.List;
import java.util.Optional;

/**
 * Reads the fields of a recorded answer and notes everything that is wrong with them. After a problem it goes on with
 * something harmless, to find the others; a recording with a problem is not used.
 *
 * @param path where the node is: {@code calls[3]}
 */
record NvmlFields(JsonNode node, String path, List<String> problems) {
    private static final BigInteger MOST = BigInteger.ONE.shiftLeft(Long.SIZE).subtract(BigInteger.ONE);
    private static final int MAX_TEXT = 200;
    private static final int SHOWN = 60;

    /** A number of bytes as NVML writes it, unsigned. */
    long amount(String name) {
        JsonNode value = node.path(name);
        if (value.isIntegralNumber()
                && value.bigIntegerValue().signum() >= 0
                && value.bigIntegerValue().compareTo(MOST) <= 0) {
            return value.bigIntegerValue().longValue();
        }
        wrong(name, "a whole number of bytes, 0 to " + MOST);
        return 0;
    }

    /** As {@link #amount}; null is NVML's "not available", all bits set. */
    long amountOrNotAvailable(String name) {
        return node.path(name).isNull() ? -1 : amount(name);
    }

    int number(String name, int from) {
        JsonNode value = node.path(name);
        if (value.isIntegralNumber() && value.canConvertToInt() && value.intValue() >= from) {
            return value.intValue();
        }
        wrong(name, "a whole number, " + from + " or more");
        return 0;
    }

    int numberOr(String name, int from, int otherwise) {
        return node.has(name) ? number(name, from) : otherwise;
    }

    String text(String name) {
        JsonNode value = node.path(name);
        if (value.isTextual() && value.textValue().length() <= MAX_TEXT) {
            return value.textValue();
        }
        wrong(name, "a text of at most " + MAX_TEXT + " characters");
        return "";
    }

    Optional<String> textIfAny(String name) {
        return node.has(name) ? Optional.of(text(name)) : Optional.empty();
    }

    NvmlFields at(String name, int index) {
        return new NvmlFields(node.path(name).path(index), where(name) + "[" + index + "]", problems);
    }

    NvmlFields at(String name) {
        return new NvmlFields(node.path(name), where(name), problems);
    }

    /** How many entries the list has; none after a problem. */
    int size(String name, int most) {
        JsonNode list = node.path(name);
        if (list.isArray() && list.size() <= most) {
            return list.size();
        }
        wrong(name, "a list of at most " + most);
        return 0;
    }

    /** @param rule what it must be */
    void wrong(String name, String rule) {
        JsonNode value = node.path(name);
        String shown = value.isMissingNode() ? "is missing" : "is " + shortened(value.toString());
        problems.add(where(name) + " " + shown + "; it must be " + rule);
    }

    private String where(String name) {
        return path.isEmpty() ? name : path + "." + name;
    }

    private static String shortened(String text) {
        return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "...";
    }
}
