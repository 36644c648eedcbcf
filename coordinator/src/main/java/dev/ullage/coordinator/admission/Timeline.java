package dev.ullage.coordinator.admission;

import dev.ullage.common.model.MemoryBytes;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * The devices now, and what is known of when which job gives its room on them back. Pure.
 *
 * @param offers as they are now, without the room of those that run
 */
record Timeline(List<DeviceOffer> offers, List<RunningGang> running, Instant now) {
    Timeline {
        offers = List.copyOf(offers);
        running = List.copyOf(running);
    }

    /** With one more that runs, on room that it is given now. */
    Timeline with(RunningGang started) {
        List<RunningGang> more = new ArrayList<>(running);
        more.add(started);
        return new Timeline(
                offers.stream()
                        .map(offer -> offer.withRoom(offer.room().minusOrZero(started.on(offer.id()))))
                        .toList(),
                more,
                now);
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
    List<DeviceOffer> at(Instant time) {
        Predicate<RunningGang> isOver =
                gang -> gang.knownEnd(now).filter(end -> !end.isAfter(time)).isPresent();
        return offers.stream()
                .map(offer -> offer.withRoom(offer.room().plus(sum(offer, isOver))))
                .toList();
    }

    /**
     * When all has ended that was to end by then, also what is over its time by now, and what is over and not yet given
     * back: that takes messages, and the start that was told does not count them.
     */
    List<DeviceOffer> dueBy(Instant time) {
        return offers.stream()
                .map(offer -> offer.withRoom(offer.room().plus(sum(offer, gang -> gang.isDueBy(time)))))
                .toList();
    }

    /** When all but these have ended, whoever they are. */
    List<DeviceOffer> emptiedBut(Predicate<RunningGang> stays) {
        return offers.stream()
                .map(offer -> offer.withRoom(offer.most().minusOrZero(sum(offer, stays))))
                .toList();
    }

    private MemoryBytes sum(DeviceOffer offer, Predicate<RunningGang> which) {
        return running.stream()
                .filter(which)
                .map(gang -> gang.on(offer.id()))
                .reduce(MemoryBytes.ZERO, MemoryBytes::plus);
    }
}
