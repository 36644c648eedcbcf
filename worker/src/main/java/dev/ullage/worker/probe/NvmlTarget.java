package dev.ullage.worker.probe;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Whom a recorded call is about: a card by its index, {@code 0}, or the MIG instance at a place of it, {@code 0.mig3}.
 *
 * @param place empty for the card itself
 */
record NvmlTarget(int index, OptionalInt place) {
    private static final String NUMBER = "(\\d{1,4})";
    private static final Pattern SLICE = Pattern.compile("(?:" + NUMBER + "\\.)?mig" + NUMBER);
    private static final Pattern RANGE = Pattern.compile(NUMBER + "\\.\\." + NUMBER);
    private static final Pattern ONE = Pattern.compile(NUMBER);

    static final String RULE = "an index (0), 'parent', a MIG instance (mig0, 0.mig0), or for the handles of MIG"
            + " instances a place (0) or places (1..6)";

    static NvmlTarget card(int index) {
        return new NvmlTarget(index, OptionalInt.empty());
    }

    NvmlTarget slice(int at) {
        return new NvmlTarget(index, OptionalInt.of(at));
    }

    NvmlTarget card() {
        return card(index);
    }

    /**
     * From what stands in the parentheses of a call; what is left out is the first card.
     *
     * @param isPlace whether a bare number is a place on the first card rather than a card
     * @return empty when it is none of these
     */
    static List<NvmlTarget> parse(String text, boolean isPlace) {
        NvmlTarget first = card(0);
        if (text.equals("parent")) {
            return List.of(first);
        }
        Matcher slice = SLICE.matcher(text);
        if (slice.matches()) {
            int index =
                    Optional.ofNullable(slice.group(1)).map(Integer::parseInt).orElse(0);
            return List.of(card(index).slice(Integer.parseInt(slice.group(2))));
        }
        Matcher range = RANGE.matcher(text);
        List<NvmlTarget> targets = new ArrayList<>();
        if (isPlace && range.matches()) {
            for (int place = Integer.parseInt(range.group(1)); place <= Integer.parseInt(range.group(2)); place++) {
                targets.add(first.slice(place));
            }
        } else if (ONE.matcher(text).matches()) {
            targets.add(isPlace ? first.slice(Integer.parseInt(text)) : card(Integer.parseInt(text)));
        }
        return targets;
    }

    @Override
    public String toString() {
        return place.isPresent() ? index + ".mig" + place.getAsInt() : Integer.toString(index);
    }
}
