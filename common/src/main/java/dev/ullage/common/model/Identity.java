package dev.ullage.common.model;

import java.util.Optional;

/**
 * Whether something is the very object it was. What is immutable and the same object says the same, so whatever follows
 * from it need not be worked out again; that it is another object says nothing.
 */
public final class Identity {
    private Identity() {}

    public static boolean isSame(Object one, Object other) {
        return one == other;
    }

    /** What they hold is the same, or both are empty. */
    public static boolean isSame(Optional<?> one, Optional<?> other) {
        return one.isPresent() ? other.isPresent() && isSame((Object) one.get(), other.get()) : other.isEmpty();
    }
}
