package dev.ullage.coordinator.events;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.protocol.ClusterEvent.About;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.coordinator.view.DeviceView;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/** What changed on one device. Pure. */
final class DeviceChanges {
    private final DeviceView device;
    private final About about;
    private final String reason;
    private final boolean isDraining;
    private final List<Change> changes = new ArrayList<>();

    private DeviceChanges(DeviceView device, String reason, boolean isDraining) {
        this.device = device;
        this.isDraining = isDraining;
        this.about = About.device(device.node(), device.id());
        this.reason = reason;
    }

    /**
     * @param reason why the newest limits are what they are
     * @param isDraining whether nothing new was to be placed on its node
     */
    static List<Change> between(Optional<DeviceView> before, DeviceView device, String reason, boolean isDraining) {
        DeviceChanges changes = new DeviceChanges(device, reason, isDraining);
        changes.quality(before.flatMap(DeviceView::sampleState).orElse(SampleState.FRESH));
        Optional<LedgerReport> earlier = before.flatMap(DeviceChanges::ledger);
        ledger(device).filter(now -> !earlier.equals(Optional.of(now))).ifPresent(now -> {
            changes.reserve(earlier, now);
            changes.ranks(earlier, now);
            changes.budget(earlier, now);
            changes.refusals(earlier, now);
        });
        return changes.changes;
    }

    /** Whether {@link #between} can find anything: what it looks at is not the same. */
    static boolean maySayAnything(Optional<DeviceView> before, DeviceView device) {
        return before.isEmpty()
                || !before.get().quality().equals(device.quality())
                || !ledger(before.get()).equals(ledger(device));
    }

    static String name(DeviceView device) {
        return "GPU " + device.info().index() + " of " + device.node();
    }

    static String count(int number, String what) {
        return Counts.of(number, what);
    }

    private static Optional<LedgerReport> ledger(DeviceView device) {
        return device.report().map(heard -> heard.message().ledger());
    }

    private void quality(SampleState before) {
        SampleState now = device.sampleState().orElse(before);
        if (now == before) {
            return;
        }
        String lost = device.quality()
                .map(quality -> "; " + Counts.of(quality.lostSamples(), "sample") + " lost so far")
                .orElse("");
        switch (now) {
            case FRESH ->
                changes.add(Change.info(
                        EventKind.DEVICE_RECOVERED,
                        about,
                        name(device) + " is read again, after it was " + before.label()));
            case STALE ->
                changes.add(Change.warning(
                        EventKind.DEVICE_STALE,
                        about,
                        name(device) + " does not answer in time: nothing grows on it" + lost));
            case LOST ->
                changes.add(Change.warning(
                        EventKind.DEVICE_LOST,
                        about,
                        name(device) + " does not answer: nobody knows what it holds" + lost));
        }
    }

    private void reserve(Optional<LedgerReport> before, LedgerReport now) {
        before.ifPresent(earlier -> {
            if (!earlier.wanted().reserve().equals(now.wanted().reserve())) {
                changes.add(Change.info(
                        EventKind.RESERVE_WANTED,
                        about,
                        "reserve of " + name(device) + ": " + now.wanted().reserve() + " wanted, was "
                                + earlier.wanted().reserve()));
            }
            if (!earlier.inForce().reserve().equals(now.inForce().reserve())) {
                changes.add(Change.info(
                        EventKind.RESERVE_IN_FORCE,
                        about,
                        "reserve of " + name(device) + ": " + now.inForce().reserve() + " in force, was "
                                + earlier.inForce().reserve()));
            }
        });
    }

    private void ranks(Optional<LedgerReport> before, LedgerReport now) {
        NavigableMap<RankInstance, GrantReport> known =
                before.map(DeviceChanges::byInstance).orElseGet(TreeMap::new);
        NavigableMap<RankInstance, GrantReport> grants = byInstance(now);
        known.forEach((instance, grant) -> {
            if (!grants.containsKey(instance)) {
                changes.add(Change.info(
                        EventKind.RANK_LEFT,
                        about(instance),
                        "rank " + instance.rank() + " (process " + instance.pid() + ") left " + name(device)
                                + ": its ceiling of " + grant.ceiling() + " is free again"));
            }
        });
        grants.forEach((instance, grant) -> {
            Optional<GrantReport> earlier = Optional.ofNullable(known.get(instance));
            if (earlier.isEmpty()) {
                changes.add(joined(instance));
            }
            Optional<PhaseLimits> limit = earlier.flatMap(GrantReport::target);
            grant.target()
                    .filter(target -> !limit.equals(Optional.of(target)))
                    .ifPresent(target -> changes.add(
                            Change.info(EventKind.LIMIT_CHANGED, about(instance), limitText(instance, limit, target))));
        });
    }

    private Change joined(RankInstance instance) {
        String text = "rank " + instance.rank() + " (process " + instance.pid() + ") joined " + name(device);
        return isDraining
                ? Change.warning(
                        EventKind.RANK_JOINED,
                        about(instance),
                        text + " although the node is draining: it is served like any other")
                : Change.info(EventKind.RANK_JOINED, about(instance), text);
    }

    private String limitText(RankInstance instance, Optional<PhaseLimits> before, PhaseLimits now) {
        Optional<MemoryBytes> from = before.map(PhaseLimits::max);
        String change = from.equals(Optional.of(now.max()))
                ? "other limits by phase, at most " + now.max()
                : from.map(MemoryBytes::toString).orElse("none") + " -> " + now.max();
        return "limit of rank " + instance.rank() + " on " + name(device) + ": " + change + "; " + reason;
    }

    private void budget(Optional<LedgerReport> before, LedgerReport now) {
        boolean was = before.filter(LedgerReport::overBudget).isPresent();
        if (was == now.overBudget()) {
            return;
        }
        String figures =
                now.promised(device.id()) + " promised, budget " + now.wanted().budget();
        changes.add(
                now.overBudget()
                        ? Change.warning(EventKind.OVER_BUDGET, about, name(device) + " is over its budget: " + figures)
                        : Change.info(
                                EventKind.WITHIN_BUDGET,
                                about,
                                name(device) + " is within its budget again: " + figures));
    }

    /** A count that fell is that of a worker that started again. */
    private void refusals(Optional<LedgerReport> before, LedgerReport now) {
        long refused = now.counts().refusals()
                - before.map(earlier -> earlier.counts().refusals())
                        .orElse(now.counts().refusals());
        if (refused > 0) {
            changes.add(Change.warning(
                    EventKind.REFUSED,
                    about,
                    "the ledger of " + name(device) + " refused " + count((int) Math.min(refused, 1_000_000), "time")
                            + ": growth has to wait for room"));
        }
    }

    private About about(RankInstance instance) {
        return about.withRank(instance.rank().job(), instance.rank().rank());
    }

    private static NavigableMap<RankInstance, GrantReport> byInstance(LedgerReport ledger) {
        NavigableMap<RankInstance, GrantReport> grants = new TreeMap<>();
        ledger.grants().forEach(grant -> grants.put(grant.instance(), grant));
        return grants;
    }
}
