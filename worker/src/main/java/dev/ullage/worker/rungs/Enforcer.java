package dev.ullage.worker.rungs;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.worker.enforcement.Ladder.Fact;
import dev.ullage.worker.enforcement.Ladder.Holds;
import dev.ullage.worker.enforcement.Ladder.NotPossible;
import dev.ullage.worker.probe.DriverLimits;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.DispatcherSelector;
import org.apache.pekko.actor.typed.SupervisorStrategy;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sees to it that ranks are held to their ceilings from outside. Works on a dispatcher for blocking work, because a
 * file system or a driver may take its time: whoever asks never waits. Only the newest wish for a device counts, and at
 * most one is waiting, however long that takes.
 *
 * <p>Soft state only. Threads: any.
 */
public final class Enforcer {
    private static final Logger LOG = LoggerFactory.getLogger(Enforcer.class);

    private sealed interface Command {}

    private enum Look implements Command {
        INSTANCE
    }

    /**
     * What it works with.
     *
     * @param proc the folder of processes
     * @param blocking where it may block
     * @param driver the limits that the driver keeps, if they are to be used
     * @param leaves where it remembers the cgroups that it limits
     */
    public record Setup(Path proc, DispatcherSelector blocking, Optional<DriverLimits> driver, Path leaves) {

        private List<Rung> rungs() {
            return List.of(driverRung(), new HamiRung(), new MpsRung(), new EnvRung());
        }

        private Rung driverRung() {
            if (driver.isEmpty()) {
                return new AbsentRung(
                        EnforcedBy.DRIVER,
                        "its devices are not read through NVML, or ullage.worker.enforcement.driver is off");
            }
            DriverRung rung = new DriverRung(driver.get(), new Cgroups(proc), new LeafList(leaves));
            rung.sweep();
            return rung;
        }
    }

    private record Wish(DeviceInfo device, Map<RankInstance, MemoryBytes> ceilings) {}

    /** What was found out about a rank, told when it changes. */
    public record Found(RankInstance instance, Map<EnforcedBy, Fact> facts) {

        /** The lowest limit that a live mechanism outside the rank holds it to now; empty when none holds it. */
        public Optional<MemoryBytes> inForce() {
            return facts.entrySet().stream()
                    // What it was started with never changes, so no order could wait for it.
                    .filter(found -> found.getKey() != EnforcedBy.MPS && found.getKey() != EnforcedBy.ENV)
                    .filter(found -> found.getValue() instanceof Holds)
                    .flatMap(found -> ((Holds) found.getValue()).limit().stream())
                    .min(MemoryBytes::compareTo);
        }
    }

    private final Map<DeviceId, Wish> newest = new ConcurrentHashMap<>();
    private final ActorRef<Command> actor;

    private Enforcer(ActorContext<?> parent, Setup setup, Consumer<Found> onFound) {
        Behavior<Command> work = Behaviors.setup(context -> {
            // A wish may have been waiting when an earlier one ended in a failure.
            context.getSelf().tell(Look.INSTANCE);
            return new Work(new Holder(setup.rungs(), RankProcess::isStillIt), setup.proc(), onFound).behavior();
        });
        actor = parent.spawn(
                Behaviors.supervise(work).onFailure(RuntimeException.class, SupervisorStrategy.restart()),
                "enforcer",
                setup.blocking());
    }

    /** @param onFound receives what is found out, on a thread of that dispatcher */
    public static Enforcer start(ActorContext<?> parent, Setup setup, Consumer<Found> onFound) {
        return new Enforcer(parent, setup, onFound);
    }

    /**
     * The ceilings of the ranks on a device; replaces an earlier wish for it that was not carried out yet. A rank that
     * is not in it any more is gone.
     */
    public void want(DeviceInfo device, Map<RankInstance, MemoryBytes> ceilings) {
        if (newest.put(device.id(), new Wish(device, Map.copyOf(ceilings))) == null) {
            actor.tell(Look.INSTANCE);
        }
    }

    /** What its actor does; owned by that actor. */
    private final class Work {
        private final Holder holder;
        private final Path proc;
        private final Consumer<Found> onFound;
        private final Map<DeviceId, Map<RankInstance, Map<EnforcedBy, Fact>>> told = new TreeMap<>();

        Work(Holder holder, Path proc, Consumer<Found> onFound) {
            this.holder = holder;
            this.proc = proc;
            this.onFound = onFound;
        }

        Behavior<Command> behavior() {
            return Behaviors.receive(Command.class)
                    .onMessageEquals(Look.INSTANCE, this::onLook)
                    .build();
        }

        private Behavior<Command> onLook() {
            for (DeviceId device : List.copyOf(newest.keySet())) {
                Wish wish = newest.remove(device);
                if (wish != null) {
                    carryOut(wish);
                }
            }
            return Behaviors.same();
        }

        private void carryOut(Wish wish) {
            Map<RankInstance, Map<EnforcedBy, Fact>> known =
                    told.computeIfAbsent(wish.device().id(), key -> new TreeMap<>());
            List.copyOf(known.keySet()).stream()
                    .filter(instance -> !wish.ceilings().containsKey(instance))
                    .forEach(instance -> {
                        holder.clear(instance);
                        known.remove(instance);
                    });
            wish.ceilings().forEach((instance, ceiling) -> hold(wish.device(), instance, ceiling, known));
        }

        private void hold(
                DeviceInfo device,
                RankInstance instance,
                MemoryBytes ceiling,
                Map<RankInstance, Map<EnforcedBy, Fact>> known) {
            Map<EnforcedBy, Fact> facts = holder.hold(new RankProcess(instance, device, proc), ceiling);
            Map<EnforcedBy, Fact> before = known.put(instance, facts);
            if (facts.equals(before)) {
                return;
            }
            for (EnforcedBy rung : facts.keySet()) {
                boolean did = before != null && before.get(rung) instanceof Holds;
                if (did && facts.get(rung) instanceof NotPossible not) {
                    LOG.warn("rank={} rung={} reason=\"{}\"", instance, rung.label(), not.why());
                } else if (!did && facts.get(rung) instanceof Holds holds) {
                    LOG.info("rank={} rung={} limit=\"{}\" reason=\"holds it\"", instance, rung.label(), holds.limit());
                }
            }
            onFound.accept(new Found(instance, facts));
        }
    }
}
