package dev.ullage.common.model;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** What holds a rank to its limit. {@code ADVISORY} means nothing does, and every display says so. */
public enum EnforcedBy {
    DRIVER,
    HAMI_CORE,
    TORCH,
    MPS,
    /** The framework's allocator, told at the start of the process; a later change needs a restart. */
    ENV,
    /** The rank's own allocator, which asks the client before it allocates. */
    ALLOCATOR,
    ADVISORY;

    /** The name on the wire and in displays: {@code hami-core}, {@code torch}, ... */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The value with this label, if there is one. */
    public static Optional<EnforcedBy> find(String label) {
        return Arrays.stream(values())
                .filter(value -> value.label().equals(label))
                .findFirst();
    }
}
