package dev.ullage.coordinator.admission;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Devices and hosts now, and what is known of when which job gives its room on them back. Pure.
 *
 * @param rooms as they are now, without the room of those that run
 */
record Timeline(Rooms rooms, List<RunningGang> running, Instant now) {
    Timeline {
        running = List.copyOf(running);
    }

    /** With one more that runs, on room that it is given now. */
    Timeline with(RunningGang started) {
        List<RunningGang> more = new ArrayList<>(running);
        more.add(started);
        return new Timeline(rooms.without(List.of(started.claim())), more, now);
    }

    /** The times at which something is known to end, the next first. */
    List<Instant> ends() {
        return running.stream()
                .flatMap(gang -> gang.knownEnd(now).stream())
                .distinct()
                .sorted()
                .toList();
    }

    /** When all that is known to end by then has ended. */
    Rooms at(Instant time) {
        return rooms.and(claims(
                gang -> gang.knownEnd(now).filter(end -> !end.isAfter(time)).isPresent()));
    }

    /**
     * When all has ended that was to end by then, also what is over its time by now, and what is over and not yet given
     * back: that takes messages, and the start that was told does not count them.
     */
    Rooms dueBy(Instant time) {
        return rooms.and(claims(gang -> gang.isDueBy(time)));
    }

    /** When all but these have ended, whoever they are. */
    Rooms emptiedBut(Predicate<RunningGang> stays) {
        return rooms.emptiedBut(claims(stays));
    }

    private List<Claim> claims(Predicate<RunningGang> which) {
        return running.stream().filter(which).map(RunningGang::claim).toList();
    }
}
