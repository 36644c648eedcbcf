package dev.ullage.common.model;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads amounts of memory as people write them. A bare letter and an {@code iB} unit are binary ({@code G = GiB =
 * 2^30}), a {@code B} unit is decimal ({@code GB = 10^9}); upper and lower case are the same. A fraction is exact and
 * rounds down to whole bytes; it needs a unit, because {@code 0.8} alone is a share and not an amount.
 */
public final class MemorySizes {
    /** What is accepted, for messages and for help texts. */
    public static final String ACCEPTED_FORMS = "bytes (1073741824), 10G or 10GiB, 1024M or 1024MiB, 512K or 512KiB,"
            + " 1T or 1TiB (powers of 1024), 10GB, 500MB, 2TB (powers of 1000), fractions as in 1.5G";

    private static final Pattern FORM = Pattern.compile("(\\d{1,30})(\\.\\d{1,30})?\\s*([A-Za-z]*)");
    private static final BigDecimal MOST = BigDecimal.valueOf(Long.MAX_VALUE);
    private static final Map<String, Long> UNITS = Map.ofEntries(
            Map.entry("", 1L),
            Map.entry("b", 1L),
            Map.entry("k", 1L << 10),
            Map.entry("kib", 1L << 10),
            Map.entry("kb", 1_000L),
            Map.entry("m", 1L << 20),
            Map.entry("mib", 1L << 20),
            Map.entry("mb", 1_000_000L),
            Map.entry("g", 1L << 30),
            Map.entry("gib", 1L << 30),
            Map.entry("gb", 1_000_000_000L),
            Map.entry("t", 1L << 40),
            Map.entry("tib", 1L << 40),
            Map.entry("tb", 1_000_000_000_000L));

    private MemorySizes() {}

    /**
     * The amount that {@code text} names; throws {@link IllegalArgumentException} with value, rule and accepted forms.
     */
    public static MemoryBytes parse(String text) {
        Matcher matcher = FORM.matcher(text.strip());
        if (!matcher.matches()) {
            throw refused(text, "is not a number of zero or more with an optional unit");
        }
        Optional<String> fraction = Optional.ofNullable(matcher.group(2));
        String unit = matcher.group(3);
        Long factor = UNITS.get(unit.toLowerCase(Locale.ROOT));
        if (factor == null) {
            throw refused(text, "has the unknown unit " + Names.quoted(unit));
        }
        if (fraction.isPresent() && factor == 1) {
            throw refused(text, "is a fraction without a unit");
        }
        BigDecimal bytes = new BigDecimal(matcher.group(1) + fraction.orElse(""))
                .multiply(BigDecimal.valueOf(factor))
                .setScale(0, RoundingMode.FLOOR);
        if (bytes.compareTo(MOST) > 0) {
            throw refused(text, "is more than " + Long.MAX_VALUE + " bytes");
        }
        return MemoryBytes.of(bytes.longValueExact());
    }

    private static IllegalArgumentException refused(String text, String rule) {
        return new IllegalArgumentException(
                "size " + Names.quoted(text) + " " + rule + "; accepted: " + ACCEPTED_FORMS);
    }
}
