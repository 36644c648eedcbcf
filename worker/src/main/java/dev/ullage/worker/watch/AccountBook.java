package dev.ullage.worker.watch;

import dev.ullage.common.model.RankAccount;
import dev.ullage.common.model.RankInstance;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What the ranks of this worker have come to: those that live, and the last {@value #KEPT} that ended. A few of them at
 * a time are told, each in turn, so a coordinator that knows nothing knows all of them after some rounds, and no
 * message grows with their number. One owner, not thread safe.
 */
public final class AccountBook {
    static final int KEPT = 256;
    static final int LIVING_AT_A_TIME = 12;
    static final int ENDED_AT_A_TIME = 4;

    private record Dated(RankAccount account, Instant at) {
        RankAccount now(Instant now) {
            return account.later(Math.max(0, Duration.between(at, now).toMillis()));
        }
    }

    private final NavigableMap<RankInstance, Dated> living = new TreeMap<>();
    /** Oldest first. */
    private final Map<RankInstance, Dated> ended = new LinkedHashMap<>();

    private final Deque<RankInstance> toTell = new ArrayDeque<>();
    private final Deque<RankInstance> endedToTell = new ArrayDeque<>();

    /** What is known from before this worker started, oldest first; all of these processes have ended. */
    public void remember(Collection<RankAccount> earlier, Instant now) {
        earlier.forEach(account -> keep(account, now));
    }

    /** A rank has come to this; also the last words of one that has ended meanwhile. */
    public void heard(RankAccount account, Instant now) {
        RankInstance instance = account.instance();
        if (ended.containsKey(instance)) {
            keep(account.ended(), now);
        } else {
            living.put(instance, new Dated(account, now));
        }
    }

    /** A process is gone; returns what it had come to, where it was ever heard. */
    public Optional<RankAccount> left(RankInstance instance, Instant now) {
        Dated last = living.remove(instance);
        if (last == null) {
            return Optional.empty();
        }
        RankAccount account = last.now(now).ended();
        keep(account, now);
        endedToTell.addFirst(instance);
        return Optional.of(account);
    }

    private void keep(RankAccount account, Instant now) {
        ended.remove(account.instance());
        ended.put(account.instance(), new Dated(account, now));
        Iterator<RankInstance> oldest = ended.keySet().iterator();
        while (ended.size() > KEPT) {
            oldest.next();
            oldest.remove();
        }
    }

    /** The next few; those that have just ended first. */
    public List<RankAccount> next(Instant now) {
        List<RankAccount> next = new ArrayList<>();
        take(toTell, living, LIVING_AT_A_TIME, now, next);
        take(endedToTell, ended, ENDED_AT_A_TIME, now, next);
        return next;
    }

    private static void take(
            Deque<RankInstance> order, Map<RankInstance, Dated> from, int most, Instant now, List<RankAccount> into) {
        if (order.isEmpty()) {
            order.addAll(from.keySet());
        }
        for (int taken = 0; taken < most && !order.isEmpty(); ) {
            Dated account = from.get(order.removeFirst());
            if (account != null) {
                into.add(account.now(now));
                taken++;
            }
        }
    }
}
