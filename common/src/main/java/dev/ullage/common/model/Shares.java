package dev.ullage.common.model;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads shares as people write them: {@code 20%}, {@code 0.2} or {@code 2000bp}. A share that is finer than one basis
 * point is an error and is not rounded: a reserve that silently became another one would be a promise nobody made.
 */
public final class Shares {
    /** What is accepted, for messages and for help texts. */
    public static final String ACCEPTED_FORMS =
            "0% to 100% (20%, 12.5%), a ratio of 0 to 1 (0.2), basis points of 0 to 10000 (2000bp); steps of 0.01%";

    private static final Pattern FORM = Pattern.compile("(\\d{0,30}\\.?\\d{1,30})\\s*(%|bp|)");

    private Shares() {}

    /**
     * The share that {@code text} names; throws {@link IllegalArgumentException} with value, rule and accepted forms.
     */
    public static Share parse(String text) {
        Matcher matcher = FORM.matcher(text.strip());
        if (!matcher.matches()) {
            throw refused(text, "is not a number of zero or more with an optional % or bp");
        }
        BigDecimal basisPoints = new BigDecimal(matcher.group(1)).movePointRight(places(matcher.group(2)));
        if (basisPoints.compareTo(BigDecimal.valueOf(Share.ONE_IN_BASIS_POINTS)) > 0) {
            throw refused(text, "is more than 100%");
        }
        BigDecimal whole = basisPoints.setScale(0, RoundingMode.DOWN);
        if (whole.compareTo(basisPoints) != 0) {
            throw refused(text, "is finer than one basis point (0.01%)");
        }
        return new Share(whole.intValueExact());
    }

    private static int places(String unit) {
        if (unit.equals("bp")) {
            return 0;
        }
        return unit.equals("%") ? 2 : 4;
    }

    private static IllegalArgumentException refused(String text, String rule) {
        return new IllegalArgumentException(
                "share " + Names.quoted(text) + " " + rule + "; accepted: " + ACCEPTED_FORMS);
    }
}
