package dev.ullage.common.model;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The devices a simulation was asked for, as in {@code 8xH100-80G,2xA100-40G}: items with commas between them, each
 * {@code [COUNTx][NAME-]SIZE}. The size is all after the last dash and reads as {@link MemorySizes} says.
 *
 * @param devices in the order of their index
 */
public record SimulatedSpec(List<Device> devices) {
    public static final int MAX_DEVICES = 1024;
    public static final String DEFAULT_NAME = "SIM";

    private static final int MAX_NAME_LENGTH = 64;
    private static final int MAX_PROBLEMS = 20;
    private static final Pattern COUNTED = Pattern.compile("(\\d+)[xX](.*)");
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9.-]{1," + MAX_NAME_LENGTH + "}");

    public SimulatedSpec {
        devices = List.copyOf(devices);
    }

    /** One device; {@code total} is all the memory it has. */
    public record Device(String name, MemoryBytes total) {}

    /** A spec is not one. The message has all problems, each with the item, its first character and the rule. */
    public static final class InvalidSpecException extends IllegalArgumentException {
        private static final long serialVersionUID = 1L;

        private final transient List<String> problems;

        InvalidSpecException(List<String> problems) {
            super(String.join("; ", problems));
            this.problems = List.copyOf(problems);
        }

        public List<String> problems() {
            return problems;
        }
    }

    /** The devices that {@code text} names; throws {@link InvalidSpecException} with everything that is wrong. */
    public static SimulatedSpec parse(String text) {
        Parser parser = new Parser();
        int start = 0;
        int number = 1;
        for (String item : text.split(",", -1)) {
            parser.item("item %d at character %d '%s'".formatted(number, start + 1, shortened(item)), item.strip());
            start += item.length() + 1;
            number++;
        }
        if (parser.wanted > MAX_DEVICES) {
            parser.problems.add(
                    "%s in all, at most %d are allowed".formatted(Counts.of(parser.wanted, "device"), MAX_DEVICES));
        }
        if (!parser.problems.isEmpty()) {
            throw new InvalidSpecException(parser.problems.subList(0, Math.min(parser.problems.size(), MAX_PROBLEMS)));
        }
        return new SimulatedSpec(parser.devices);
    }

    private static String shortened(String item) {
        String line = item.length() <= MAX_NAME_LENGTH ? item : item.substring(0, MAX_NAME_LENGTH) + "...";
        return line.replaceAll("\\p{Cntrl}", "?");
    }

    /** Collects devices and problems; lives for one text. */
    private static final class Parser {
        private final List<Device> devices = new ArrayList<>();
        private final List<String> problems = new ArrayList<>();
        private long wanted;

        void item(String where, String item) {
            if (item.isEmpty()) {
                problems.add(where + ": is empty; write [COUNTx][NAME-]SIZE, as in 8xH100-80G");
                return;
            }
            Matcher counted = COUNTED.matcher(item);
            boolean hasCount = counted.matches();
            int count = hasCount ? count(where, counted.group(1)) : 1;
            String device = hasCount ? counted.group(2) : item;
            int dash = device.lastIndexOf('-');
            String name = dash < 0 ? DEFAULT_NAME : device.substring(0, dash);
            if (!NAME.matcher(name).matches()) {
                problems.add("%s: name '%s' must be 1 to %d letters, digits, dashes and dots"
                        .formatted(where, shortened(name), MAX_NAME_LENGTH));
            }
            MemoryBytes total = size(where, device.substring(dash + 1));
            wanted += count;
            for (int i = 0; problems.isEmpty() && i < count && devices.size() < MAX_DEVICES; i++) {
                devices.add(new Device(name, total));
            }
        }

        private int count(String where, String digits) {
            int count = digits.length() > 9 ? Integer.MAX_VALUE : Integer.parseInt(digits);
            if (count >= 1 && count <= MAX_DEVICES) {
                return count;
            }
            problems.add("%s: count %s must be 1 to %d".formatted(where, shortened(digits), MAX_DEVICES));
            return 0;
        }

        private MemoryBytes size(String where, String text) {
            try {
                MemoryBytes size = MemorySizes.parse(text);
                if (size.isZero()) {
                    problems.add(where + ": size must be more than 0");
                }
                return size;
            } catch (IllegalArgumentException e) {
                problems.add(where + ": " + e.getMessage());
                return MemoryBytes.ZERO;
            }
        }
    }
}
