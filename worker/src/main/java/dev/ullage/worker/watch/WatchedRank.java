package dev.ullage.worker.watch;

import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.RankWatch.CacheRelease;
import dev.ullage.common.model.RankWatch.Snapshot;
import dev.ullage.common.model.RankWatch.Work;
import dev.ullage.config.WatchSettings;
import dev.ullage.worker.watch.CacheAdvice.Asked;
import dev.ullage.worker.watch.CacheAdvice.Situation;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * All that is kept of one rank's memory: its last steps, whether it leaks, some snapshots, its newest release of the
 * cache. Owned by the rank's session; not thread safe; bounded by the settings. A snapshot is a handful of totals and
 * never a list of blocks, so their number bounds their size too.
 */
public final class WatchedRank {
    private final WatchSettings settings;
    private final CacheAdvice advice;
    private final PhaseWindow window;
    private final LeakSeries leaks = new LeakSeries();
    private final Deque<Snapshot> snapshots = new ArrayDeque<>();
    private Optional<StepSummary> newest = Optional.empty();
    private Optional<Asked> asked = Optional.empty();

    public WatchedRank(WatchSettings settings) {
        this.settings = settings;
        this.advice = new CacheAdvice(settings.fragmentation(), settings.free());
        this.window = new PhaseWindow(settings.steps());
    }

    /** A step ended. */
    public void add(StepSummary summary) {
        if (!window.add(summary)) {
            leaks.clear();
            snapshots.clear();
            asked = Optional.empty();
        }
        newest = Optional.of(summary);
        summary.amounts().allocated().ifPresent(allocated -> leaks.add(summary.step(), allocated));
    }

    public void add(Snapshot snapshot) {
        snapshots.add(snapshot);
        if (snapshots.size() > settings.snapshots()) {
            snapshots.removeFirst();
        }
    }

    /** The rank has given its cache back; one that was not asked for is nobody's business. */
    public void add(CacheRelease release) {
        asked = asked.map(request -> request.with(release));
    }

    /** Whether the rank is to be asked for its cache now; the answer yes is remembered. */
    public boolean isToBeAskedForItsCache(MemoryUse device) {
        Optional<Situation> now = situation();
        if (now.isEmpty() || !advice.isToBeAsked(now.get(), device, asked)) {
            return false;
        }
        asked = Optional.of(new Asked(now.get().step(), now.get().fragmentation(), Optional.empty()));
        return true;
    }

    /** The rank is asked whatever it does; where enough is known of it, what it gains is shown. */
    public void askedByAnOperator() {
        situation().ifPresent(now -> asked = Optional.of(new Asked(now.step(), now.fragmentation(), Optional.empty())));
    }

    private Optional<Situation> situation() {
        return newest.flatMap(summary -> window.allocator()
                .fragmentation()
                .flatMap(fragmentation -> summary.amounts().reserved().flatMap(reserved -> summary.amounts()
                        .allocated()
                        .map(allocated -> new Situation(summary.step(), reserved, allocated, fragmentation)))));
    }

    /** Empty until the rank has said something. */
    public Optional<RankWatch> watch() {
        return newest.map(summary -> new RankWatch(
                window.progress(),
                window.peaks(),
                window.allocator(),
                leaks.verdict(),
                List.copyOf(snapshots),
                asked.flatMap(Asked::release),
                Work.of(summary.batches(), window.lingering())));
    }
}
