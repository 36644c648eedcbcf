package dev.ullage.bench;

import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.Share;
import dev.ullage.worker.limits.FileLedgerStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Append and fsync: one decision is one record, however many events it has. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class StoreBench {
    @Param({"1", "8", "64"})
    private int events;

    private List<LedgerEvent> record = List.of();
    private @Nullable Path folder;
    private @Nullable FileLedgerStore store;

    @Setup
    public void prepare() {
        BenchRanks bench = new BenchRanks(events);
        record = IntStream.range(0, events)
                .<LedgerEvent>mapToObj(i -> new LedgerEvent.LimitOrdered(
                        bench.rank(i), 7, PhaseLimits.uniform(MemoryBytes.ofGibibytes(1)), Share.ALL))
                .toList();
    }

    @Setup(Level.Iteration)
    public void open() throws IOException {
        folder = Files.createTempDirectory("ullage-bench");
        store = FileLedgerStore.open(folder.resolve("bench.ledger"), Clock.systemUTC());
        store.append(List.of(BenchRanks.opened()));
    }

    @TearDown(Level.Iteration)
    public void close() throws IOException {
        if (store != null && folder != null) {
            store.close();
            Files.delete(folder.resolve("bench.ledger"));
            Files.delete(folder);
        }
    }

    @Benchmark
    public void appendAndSync() throws IOException {
        if (store != null) {
            store.append(record);
        }
    }
}
