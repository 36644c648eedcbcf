package dev.ullage.bench;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.LedgerCommand;
import dev.ullage.common.ledger.LedgerDecision;
import dev.ullage.common.model.Share;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Decide and apply, without a disk, by the number of ranks on the device. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class LedgerBench {
    @Param({"8", "64", "512"})
    private int ranks;

    private DeviceLedger settled = DeviceLedger.open(BenchRanks.opened());
    private DeviceLedger shrinking = settled;
    private LedgerCommand same = new BenchRanks(1).plan(Share.ALL);
    private LedgerCommand half = same;
    private LedgerCommand confirmation = same;

    @Setup
    public void prepare() {
        BenchRanks bench = new BenchRanks(ranks);
        settled = bench.settled();
        same = bench.plan(Share.ALL);
        half = bench.plan(Share.ofPercent(50));
        LedgerDecision shrink = settled.decide(half);
        shrinking = BenchRanks.applied(settled, shrink);
        confirmation = BenchRanks.confirm(shrink.orders().get(0));
    }

    /** One rank confirms: the most frequent command that changes something. */
    @Benchmark
    public DeviceLedger confirmOne() {
        return BenchRanks.applied(shrinking, shrinking.decide(confirmation));
    }

    /** The coordinator says again what is already so: what a tick costs when nothing changes. */
    @Benchmark
    public LedgerDecision planUnchanged() {
        return settled.decide(same);
    }

    /** A plan that changes every rank. */
    @Benchmark
    public DeviceLedger planForAll() {
        return BenchRanks.applied(settled, settled.decide(half));
    }
}
