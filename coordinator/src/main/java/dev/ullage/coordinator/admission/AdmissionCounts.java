package dev.ullage.coordinator.admission;

import dev.ullage.common.protocol.RequestCounts;
import dev.ullage.common.protocol.ToOperator.QueueFigures;
import dev.ullage.common.protocol.ToOperator.QueueFigures.Bucket;
import dev.ullage.coordinator.admission.Entry.Stage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.OptionalLong;

/** What a coordinator has counted of its queue since it started. Mutable, with a single owner. */
final class AdmissionCounts {
    /** Upper bounds of the histogram of waits, in seconds. */
    private static final List<Long> BOUNDS = List.of(1L, 5L, 15L, 60L, 300L, 900L, 3_600L, 14_400L, 86_400L);

    /** One more than there are bounds: the last is for what is longer. */
    private final long[] waits = new long[BOUNDS.size() + 1];

    private long waitedMillis;
    private long placed;
    private long failed;

    void placed(Duration wait) {
        placed++;
        waitedMillis += wait.toMillis();
        int bucket = 0;
        while (bucket < BOUNDS.size() && wait.toMillis() > BOUNDS.get(bucket) * 1_000) {
            bucket++;
        }
        waits[bucket]++;
    }

    void failed() {
        failed++;
    }

    static RequestCounts in(Collection<Entry> entries) {
        return new RequestCounts(
                in(entries, Stage.WAITING),
                in(entries, Stage.PLACING),
                in(entries, Stage.PLACED),
                in(entries, Stage.REQUEUED),
                in(entries, Stage.LOST));
    }

    QueueFigures figures(Collection<Entry> entries) {
        List<Bucket> buckets = new ArrayList<>();
        for (int i = 0; i < waits.length; i++) {
            OptionalLong bound = i < BOUNDS.size() ? OptionalLong.of(BOUNDS.get(i)) : OptionalLong.empty();
            buckets.add(new Bucket(bound, waits[i]));
        }
        return new QueueFigures(
                in(entries, Stage.WAITING),
                in(entries, Stage.PLACING),
                in(entries, Stage.PLACED),
                buckets,
                waitedMillis,
                placed,
                failed);
    }

    private static int in(Collection<Entry> entries, Stage stage) {
        return (int) entries.stream().filter(entry -> entry.is(stage)).count();
    }
}
