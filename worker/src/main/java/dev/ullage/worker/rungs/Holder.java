package dev.ullage.worker.rungs;

import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.worker.enforcement.Ladder.Fact;
import dev.ullage.worker.enforcement.Ladder.Holds;
import dev.ullage.worker.enforcement.Ladder.NotPossible;
import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Holds ranks to their ceilings by every mechanism outside them that can. One owner, not thread safe; blocks as long as
 * a rung does. What it knows is soft: a new one finds it out again.
 */
final class Holder {
    /** A rank that a mechanism cannot hold is looked at again after so many rounds: its library may load later. */
    static final int PROBE_EVERY_ROUNDS = 10;

    /** What is known of one rank and one rung. */
    private static final class Known {
        private Optional<Rung.Grip> grip = Optional.empty();
        private Fact fact = new NotPossible("not looked into yet");
        private int roundsToProbe;
        private boolean hasHeld;
    }

    private final List<Rung> rungs;
    private final Predicate<RankProcess> isStillIt;
    private final Map<RankInstance, Map<EnforcedBy, Known>> known = new TreeMap<>();

    /** @param isStillIt whether a process is still the one that was registered: no other is ever touched */
    Holder(List<Rung> rungs, Predicate<RankProcess> isStillIt) {
        this.rungs = List.copyOf(rungs);
        this.isStillIt = isStillIt;
    }

    /** One round for one rank: what holds it now, and by how much. */
    Map<EnforcedBy, Fact> hold(RankProcess process, MemoryBytes ceiling) {
        Map<EnforcedBy, Fact> facts = new EnumMap<>(EnforcedBy.class);
        Optional<String> obstacle = obstacle(process);
        for (Rung rung : rungs) {
            Fact fact = obstacle.isPresent() ? new NotPossible(obstacle.get()) : round(rung, process, ceiling);
            facts.put(rung.name(), fact);
        }
        return facts;
    }

    private Optional<String> obstacle(RankProcess process) {
        if (process.device().kind() == DeviceKind.SIMULATED) {
            return Optional.of("its device is simulated");
        }
        return isStillIt.test(process) ? Optional.empty() : Optional.of("its process is gone");
    }

    private Fact round(Rung rung, RankProcess process, MemoryBytes ceiling) {
        Known of = known.computeIfAbsent(process.instance(), key -> new EnumMap<>(EnforcedBy.class))
                .computeIfAbsent(rung.name(), key -> new Known());
        if (of.grip.isEmpty() && of.roundsToProbe-- <= 0) {
            of.roundsToProbe = PROBE_EVERY_ROUNDS - 1;
            probe(rung, process, of);
        }
        of.grip.ifPresent(grip -> of.fact = apply(rung, grip, ceiling, of));
        return of.fact;
    }

    private static void probe(Rung rung, RankProcess process, Known of) {
        Rung.Attempt attempt = rung.probe(process);
        if (attempt instanceof Rung.Possible possible) {
            of.grip = Optional.of(possible.grip());
        } else if (attempt instanceof Rung.Impossible not) {
            of.fact = new NotPossible(not.why());
        }
    }

    private static Fact apply(Rung rung, Rung.Grip grip, MemoryBytes ceiling, Known of) {
        try {
            MemoryBytes inForce = grip.apply(ceiling);
            of.hasHeld = true;
            return rung.isLive() || !inForce.isMoreThan(ceiling)
                    ? new Holds(Optional.of(inForce))
                    : new NotPossible("it was started with %s, more than its ceiling of %s, and that needs a restart"
                            .formatted(inForce, ceiling));
        } catch (IOException e) {
            of.grip = Optional.empty();
            // What was held may only have moved; what never was is not tried in each round.
            of.roundsToProbe = of.hasHeld ? 0 : PROBE_EVERY_ROUNDS - 1;
            of.hasHeld = false;
            return new NotPossible("it cannot be held by it: " + e.getMessage());
        }
    }

    void clear(RankInstance instance) {
        known.remove(instance);
        rungs.forEach(rung -> rung.clear(instance));
    }
}
