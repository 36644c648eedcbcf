package dev.ullage.bench;

import dev.ullage.coordinator.planning.estimate.Estimator;
import dev.ullage.coordinator.planning.estimate.RankEstimate;
import dev.ullage.coordinator.planning.estimate.Reading;
import dev.ullage.coordinator.planning.estimate.SetupReader;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** An estimate for 1,024 ranks: 405B parameters, 16 pipeline stages of two chunks each. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class EstimateBench {
    private static final Map<String, String> FIELDS = new TreeMap<>(Map.ofEntries(
            Map.entry("layers", "126"),
            Map.entry("hidden", "16384"),
            Map.entry("heads", "128"),
            Map.entry("kv-heads", "8"),
            Map.entry("ffn", "53248"),
            Map.entry("vocab", "128256"),
            Map.entry("sequence", "8192"),
            Map.entry("micro-batch", "1"),
            Map.entry("global-batch", "512"),
            Map.entry("framework", "megatron"),
            Map.entry("tp", "8"),
            Map.entry("sp", "true"),
            Map.entry("pp", "16"),
            Map.entry("virtual-stages", "2"),
            Map.entry("dp", "8"),
            Map.entry("sharding", "1"),
            Map.entry("attention", "flash"),
            Map.entry("recompute", "selective")));

    /** From named values to bytes of every stage. */
    @Benchmark
    public List<RankEstimate> readAndEstimate() {
        return Estimator.estimate(reading());
    }

    private static Reading reading() {
        return SetupReader.read(FIELDS).reading().orElseThrow(() -> new IllegalStateException("refused"));
    }
}
