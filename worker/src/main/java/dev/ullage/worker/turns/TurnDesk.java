package dev.ullage.worker.turns;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.TurnPlan;
import dev.ullage.common.protocol.TurnPlan.RankTurn;
import dev.ullage.common.protocol.TurnReport;
import dev.ullage.common.protocol.TurnReport.Holder;
import dev.ullage.worker.turns.TurnInput.Allowed;
import dev.ullage.worker.turns.TurnInput.Asked;
import dev.ullage.worker.turns.TurnInput.Left;
import dev.ullage.worker.turns.TurnInput.Overdue;
import dev.ullage.worker.turns.TurnInput.Planned;
import dev.ullage.worker.turns.TurnInput.Released;
import dev.ullage.worker.turns.TurnInput.Replayed;
import dev.ullage.worker.turns.TurnInput.Said;
import java.time.Clock;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One for the worker: a lock around {@link TurnState}, so that a rank's call thread, which is the one that waits, is
 * answered without a change of actor and without a disk write. Listeners are called with the lock held and only pass
 * on.
 */
public final class TurnDesk {
    private static final Logger LOG = LoggerFactory.getLogger(TurnDesk.class);

    private final Clock clock;
    private final Duration deadline;
    private final TurnState state = new TurnState();
    private final NavigableMap<Key, CompletableFuture<TurnAnswer>> waiting = new TreeMap<>();
    private final NavigableMap<RankInstance, Listener> listeners = new TreeMap<>();
    private final NavigableMap<DeviceId, Keeper> keepers = new TreeMap<>();
    private final NavigableMap<DeviceId, Holder> saidToBeSlow = new TreeMap<>();

    /** One asking. */
    private record Key(RankInstance instance, long ask) implements Comparable<Key> {
        private static final Comparator<Key> ORDER =
                Comparator.comparing(Key::instance).thenComparingLong(Key::ask);

        @Override
        public int compareTo(Key other) {
            return ORDER.compare(this, other);
        }
    }

    /** Who hears what a rank takes turns at, and what it heard last. */
    private record Listener(Consumer<Optional<RankTurn>> onOffer, Optional<RankTurn> heard) {}

    /** Who hears that less of a device's pool may be out, and the bound it knows. */
    private record Keeper(Runnable onFell, MemoryBytes bound) {}

    /** @param deadline how long a rank waits at most */
    public TurnDesk(Duration deadline, Clock clock) {
        this.deadline = deadline;
        this.clock = clock;
    }

    public Duration deadline() {
        return deadline;
    }

    // ---- the keeper's side

    /**
     * A ledger was read, before any process of its device can say hello.
     *
     * @param pool in force by the ledger: as much may be out
     * @param granted the processes that may hold it
     */
    public synchronized void replayed(DeviceId device, MemoryBytes pool, List<RankInstance> granted) {
        on(new Replayed(device, pool, granted));
    }

    /** @param onFell told whenever {@link #allow} would return less than it last did */
    public synchronized void onFell(DeviceId device, Runnable onFell) {
        keepers.put(device, new Keeper(onFell, state.bound(device)));
    }

    public synchronized void plan(DeviceId device, Optional<TurnPlan> plan) {
        on(new Planned(device, plan));
        listeners.forEach(this::offer);
    }

    /**
     * From now on no turn is given that would make bursts on the device come to more than {@code allowed}.
     *
     * @return the most they may come to until the next call: more than is allowed while turns from before are out
     */
    public synchronized MemoryBytes allow(DeviceId device, MemoryBytes allowed) {
        on(new Allowed(device, allowed));
        MemoryBytes bound = state.bound(device);
        keepers.computeIfPresent(device, (key, keeper) -> new Keeper(keeper.onFell(), bound));
        return bound;
    }

    /** The process is gone. */
    public synchronized void left(RankInstance instance) {
        listeners.remove(instance);
        on(new Left(instance));
    }

    public synchronized TurnReport report(DeviceId device) {
        TurnReport report = state.report(device, clock.instant());
        for (Holder holder : report.holding()) {
            boolean isNew = Optional.ofNullable(saidToBeSlow.get(device))
                    .filter(said -> said.job().equals(holder.job()) && said.heldMillis() <= holder.heldMillis())
                    .isEmpty();
            if (holder.heldMillis() > deadline.toMillis() && !report.waiting().isEmpty() && isNew) {
                saidToBeSlow.put(device, holder);
                LOG.warn(
                        "device={} job={} heldMillis={} waiting={} reason=\"has the turn for longer than others wait;"
                                + " it is not taken from a process that lives\"",
                        device,
                        holder.job(),
                        holder.heldMillis(),
                        report.waiting().size());
            }
        }
        return report;
    }

    // ---- the ranks' side

    /**
     * A process said hello.
     *
     * @param burst what it holds by a turn, zero when nothing
     * @param ask the last number it took
     * @param onOffer told what it takes turns at, now and whenever that changes; empty: nothing
     */
    public synchronized void said(
            RankInstance instance, DeviceId device, MemoryBytes burst, long ask, Consumer<Optional<RankTurn>> onOffer) {
        on(new Said(instance, device, burst, ask));
        Optional<RankTurn> offer = state.offer(instance);
        listeners.put(instance, new Listener(onOffer, offer));
        if (offer.isPresent()) {
            onOffer.accept(offer);
        }
    }

    private void offer(RankInstance instance, Listener listener) {
        Optional<RankTurn> offer = state.offer(instance);
        if (!offer.equals(listener.heard())) {
            listeners.put(instance, new Listener(listener.onOffer(), offer));
            listener.onOffer().accept(offer);
        }
    }

    /** Waits for a turn, at most until the deadline. */
    public TurnAnswer ask(RankInstance instance, long ask) {
        CompletableFuture<TurnAnswer> answer = new CompletableFuture<>();
        synchronized (this) {
            waiting.put(new Key(instance, ask), answer);
            on(new Asked(instance, ask));
        }
        try {
            return answer.get(deadline.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            return overdue(instance, ask, answer);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return overdue(instance, ask, answer);
        } catch (ExecutionException e) {
            throw new IllegalStateException("a turn's answer is never a failure", e);
        } finally {
            synchronized (this) {
                waiting.remove(new Key(instance, ask), answer);
            }
        }
    }

    private synchronized TurnAnswer overdue(RankInstance instance, long ask, CompletableFuture<TurnAnswer> answer) {
        on(new Overdue(instance, ask));
        TurnAnswer last = answer.getNow(TurnAnswer.refused(instance, ask, "it waits no longer"));
        if (last.burst().isEmpty()) {
            LOG.warn("rank={} reason=\"no turn: {}\"", instance, last.reason());
        }
        return last;
    }

    public synchronized void released(RankInstance instance, long ask) {
        on(new Released(instance, ask));
    }

    // ---- both

    private void on(TurnInput input) {
        for (TurnAnswer answer : state.on(input, clock.instant())) {
            CompletableFuture<TurnAnswer> asked = waiting.get(new Key(answer.instance(), answer.ask()));
            if (asked != null) {
                asked.complete(answer);
            }
        }
        keepers.forEach((device, keeper) -> {
            if (keeper.bound().isMoreThan(state.bound(device))) {
                keeper.onFell().run();
            }
        });
    }
}
