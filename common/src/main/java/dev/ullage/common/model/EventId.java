package dev.ullage.common.model;

import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The name of one event of the cluster. Events are counted from 1 by each coordinator; one that takes over has a higher
 * epoch.
 *
 * @param epoch of the coordinator that recorded it, 0 or more
 * @param sequence 1 or more; without gaps within an epoch
 */
public record EventId(long epoch, long sequence) implements Comparable<EventId> {
    private static final Pattern FORM = Pattern.compile("(\\d{1,18})\\.(\\d{1,18})");
    private static final Comparator<EventId> ORDER =
            Comparator.comparingLong(EventId::epoch).thenComparingLong(EventId::sequence);

    public EventId {
        if (epoch < 0 || sequence < 1) {
            throw new IllegalArgumentException("no event's name: " + epoch + "." + sequence);
        }
    }

    /** The opposite of {@link #toString}; throws {@link IllegalArgumentException} with what is wrong. */
    public static EventId parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("must look like 3.17, as in the id of an event");
        }
        return new EventId(Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2)));
    }

    @Override
    public int compareTo(EventId other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return epoch + "." + sequence;
    }
}
