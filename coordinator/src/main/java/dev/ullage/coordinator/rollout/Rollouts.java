package dev.ullage.coordinator.rollout;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.RolloutState;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToOperator.RolloutStatus;
import dev.ullage.coordinator.planning.DevicePlan;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The newest rollout of every device, and the last ones before them. Immutable, pure, soft. */
public final class Rollouts {
    /** How many rollouts are shown, over all devices. */
    public static final int MAX_SHOWN = 256;

    public static final Rollouts NONE = new Rollouts(new TreeMap<>(), List.of());

    private final NavigableMap<DeviceId, Rollout> newest;
    private final List<Rollout> replaced;

    private Rollouts(NavigableMap<DeviceId, Rollout> newest, List<Rollout> replaced) {
        this.newest = newest;
        this.replaced = replaced;
    }

    /**
     * New plans, at most one for a device; the one before each is superseded unless it has settled.
     *
     * @param firstRevision the revision of the first plan; each further one gets the next
     */
    public Rollouts planned(List<DevicePlan> plans, long firstRevision, Instant now) {
        NavigableMap<DeviceId, Rollout> started = new TreeMap<>();
        for (DevicePlan plan : plans) {
            started.put(plan.device(), Rollout.planned(plan, firstRevision + started.size(), now));
        }
        Rollouts rest = retiring(started::containsKey, now);
        NavigableMap<DeviceId, Rollout> changed = new TreeMap<>(rest.newest);
        changed.putAll(started);
        return new Rollouts(changed, rest.replaced);
    }

    public Rollouts onSent(Collection<DeviceId> devices, Instant now) {
        if (devices.isEmpty()) {
            return this;
        }
        NavigableMap<DeviceId, Rollout> changed = new TreeMap<>(newest);
        devices.forEach(device -> changed.computeIfPresent(device, (id, rollout) -> rollout.onSent(now)));
        return new Rollouts(changed, replaced);
    }

    /** @param report of a ledger that obeys the coordinator that made the plans */
    public Rollouts onReport(LimitsReported report, Instant now) {
        Optional<Rollout> known = of(report.device());
        Optional<Rollout> next = known.map(rollout -> rollout.onReport(report, now));
        if (next.equals(known)) {
            return this;
        }
        NavigableMap<DeviceId, Rollout> changed = new TreeMap<>(newest);
        changed.put(report.device(), next.orElseThrow());
        return new Rollouts(changed, replaced);
    }

    public Rollouts onTick(Instant now, Duration stallAfter) {
        NavigableMap<DeviceId, Rollout> stalled = new TreeMap<>();
        newest.forEach((device, rollout) -> {
            Rollout after = rollout.onTick(now, stallAfter);
            if (!after.equals(rollout)) {
                stalled.put(device, after);
            }
        });
        if (stalled.isEmpty()) {
            return this;
        }
        NavigableMap<DeviceId, Rollout> changed = new TreeMap<>(newest);
        changed.putAll(stalled);
        return new Rollouts(changed, replaced);
    }

    /** Moves the newest rollouts of some devices to the history: superseded, unless they have settled. */
    public Rollouts retiring(Predicate<DeviceId> devices, Instant now) {
        NavigableMap<DeviceId, Rollout> kept = new TreeMap<>();
        List<Rollout> history = new ArrayList<>(replaced);
        newest.forEach((device, rollout) -> {
            if (devices.test(device)) {
                history.add(rollout.isOnItsWay() ? rollout.superseded(now) : rollout);
            } else {
                kept.put(device, rollout);
            }
        });
        return new Rollouts(kept, lastOf(history));
    }

    /** The rollouts to be sent now. */
    public List<Rollout> due(Instant now, Duration resendAfter) {
        return newest.values().stream()
                .filter(rollout -> rollout.isDue(now, resendAfter))
                .toList();
    }

    /** The devices for which there is a plan. */
    public Set<DeviceId> devices() {
        return Collections.unmodifiableSet(newest.keySet());
    }

    public Optional<Rollout> of(DeviceId device) {
        return Optional.ofNullable(newest.get(device));
    }

    /** The rollouts that were found stalled at this instant. */
    public List<Rollout> stalledAt(Instant instant) {
        return newest.values().stream()
                .filter(rollout -> rollout.state() == RolloutState.STALLED
                        && rollout.since().equals(instant))
                .toList();
    }

    /** The plans that have not settled. */
    public NavigableMap<DeviceId, DevicePlan> onTheirWay() {
        NavigableMap<DeviceId, DevicePlan> plans = new TreeMap<>();
        newest.values().stream()
                .filter(Rollout::isOnItsWay)
                .forEach(rollout -> plans.put(rollout.device(), rollout.plan()));
        return plans;
    }

    /** Where the newest plan of each device stands. */
    public NavigableMap<DeviceId, RolloutState> states() {
        NavigableMap<DeviceId, RolloutState> states = new TreeMap<>();
        newest.values().forEach(rollout -> states.put(rollout.device(), rollout.state()));
        return states;
    }

    /** The last {@link #MAX_SHOWN} rollouts in the order of their revisions. */
    public List<RolloutStatus> statuses(Instant now) {
        return lastOf(Stream.concat(replaced.stream(), newest.values().stream())
                        .sorted(Comparator.comparingLong(Rollout::revision))
                        .toList())
                .stream()
                .map(rollout -> rollout.status(now))
                .toList();
    }

    private static List<Rollout> lastOf(List<Rollout> rollouts) {
        return List.copyOf(rollouts.subList(Math.max(0, rollouts.size() - MAX_SHOWN), rollouts.size()));
    }
}
