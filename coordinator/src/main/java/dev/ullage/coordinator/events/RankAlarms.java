package dev.ullage.coordinator.events;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.Identity;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankEnforcement;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.RankWatch.Leak;
import dev.ullage.common.model.RankWatch.LeakState;
import dev.ullage.common.protocol.ClusterEvent.About;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.coordinator.view.DeviceView;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/** What the samples of a device's ranks say now and did not say before, or no longer do. Pure. */
final class RankAlarms {
    private RankAlarms() {}

    static List<Change> between(Optional<DeviceView> before, DeviceView device) {
        if (before.isPresent() && Identity.isSame(before.get().sample(), device.sample())) {
            return List.of();
        }
        NavigableMap<RankInstance, RankSample> earlier =
                before.map(RankAlarms::byInstance).orElseGet(TreeMap::new);
        List<Change> changes = new ArrayList<>();
        byInstance(device).forEach((instance, now) -> {
            Optional<RankSample> was = Optional.ofNullable(earlier.get(instance));
            ceiling(was, now, device).ifPresent(changes::add);
            leak(was, now, device).ifPresent(changes::add);
        });
        return changes;
    }

    private static Optional<Change> ceiling(Optional<RankSample> before, RankSample now, DeviceView device) {
        boolean was = before.filter(RankAlarms::isAbove).isPresent();
        if (was == isAbove(now)) {
            return Optional.empty();
        }
        String used = now.enforcement()
                .flatMap(RankEnforcement::processUsed)
                .map(MemoryBytes::toString)
                .orElse("an amount not known at the moment");
        String who =
                who(now, device) + ", held to its limit by " + now.enforcedBy().label() + ", uses " + used;
        return Optional.of(
                was
                        ? Change.info(EventKind.WITHIN_CEILING, about(now, device), who + ": within its ceiling again")
                        : Change.warning(EventKind.ABOVE_CEILING, about(now, device), who + ": more than its ceiling"));
    }

    private static boolean isAbove(RankSample rank) {
        return rank.enforcement().filter(RankEnforcement::overCeiling).isPresent();
    }

    private static Optional<Change> leak(Optional<RankSample> before, RankSample now, DeviceView device) {
        return suspected(now)
                .filter(leak -> before.flatMap(RankAlarms::suspected).isEmpty())
                .map(leak -> Change.warning(
                        EventKind.LEAK_SUSPECTED,
                        about(now, device),
                        who(now, device) + " may leak: what it has allocated at the ends of its steps grows by "
                                + leak.bytesPerStep().stream()
                                        .mapToObj(bytes -> MemoryBytes.of(bytes).toString())
                                        .findFirst()
                                        .orElse("an unknown amount")
                                + " a step, over " + Counts.of(leak.points(), "step")));
    }

    private static Optional<Leak> suspected(RankSample rank) {
        return rank.watch().map(RankWatch::leak).filter(leak -> leak.state() == LeakState.SUSPECTED);
    }

    private static String who(RankSample rank, DeviceView device) {
        return "rank " + rank.instance().rank() + " (process " + rank.instance().pid() + ") on "
                + DeviceChanges.name(device);
    }

    private static About about(RankSample rank, DeviceView device) {
        return About.device(device.node(), device.id())
                .withRank(rank.instance().rank().job(), rank.instance().rank().rank());
    }

    private static NavigableMap<RankInstance, RankSample> byInstance(DeviceView device) {
        NavigableMap<RankInstance, RankSample> ranks = new TreeMap<>();
        device.sample().ifPresent(heard -> heard.message().ranks().forEach(rank -> ranks.put(rank.instance(), rank)));
        return ranks;
    }
}
