package dev.ullage.worker.rungs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.worker.enforcement.Ladder.Fact;
import dev.ullage.worker.enforcement.Ladder.Holds;
import dev.ullage.worker.enforcement.Ladder.NotPossible;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process as its folder under /proc shows it. */
class EnvRungTest {
    private static final RankInstance RANK = new RankInstance(new RankId(new JobId("bert"), 0), 100, 7);
    private static final DeviceInfo DEVICE =
            new DeviceInfo(new DeviceId("GPU-1"), 0, "H100", DeviceKind.DISCRETE, Optional.empty());
    private static final String OURS =
            "ULLAGE_HELD_BYTES=1073741824\0PYTORCH_ALLOC_CONF=a:1," + "per_process_memory_fraction:0.006250\0";
    private static final String TORCH = "7f00-7f01 r-xp 00000000 08:01 42 /usr/lib/torch/lib/libc10_cuda.so\n";

    @TempDir
    private Path proc;

    private Fact found(String environ, String maps, MemoryBytes ceiling) throws IOException {
        Path folder = Files.createDirectories(proc.resolve("100"));
        Files.writeString(folder.resolve("environ"), environ);
        Files.writeString(folder.resolve("maps"), maps);
        return new Holder(List.of(new EnvRung()), process -> true)
                .hold(new RankProcess(RANK, DEVICE, proc), ceiling)
                .getOrDefault(EnforcedBy.ENV, new NotPossible("absent"));
    }

    private Fact found(String environ, String maps) throws IOException {
        return found(environ, maps, MemoryBytes.ofGibibytes(1));
    }

    @Test
    void whatTheClientSetHoldsAProcessThatHasLoadedTorchsAllocator() throws IOException {
        assertThat(found(OURS, TORCH)).isEqualTo(new Holds(Optional.of(MemoryBytes.ofGibibytes(1))));
        assertThat(found(OURS, ""))
                .isEqualTo(new NotPossible("its variables would hold torch, but it has not loaded libc10_cuda.so"));
    }

    @Test
    void whatSomebodyElseSetAndHalfOfItAreNotOurs() throws IOException {
        NotPossible none = new NotPossible("its framework was given no limit at its start");

        assertThat(found("PYTORCH_ALLOC_CONF=per_process_memory_fraction:0.5\0", TORCH))
                .isEqualTo(none);
        assertThat(found("ULLAGE_HELD_BYTES=1073741824\0PYTORCH_ALLOC_CONF=a:1\0", TORCH))
                .isEqualTo(none);
        assertThat(found(OURS.replace("1073741824", "much"), TORCH))
                .isEqualTo(new NotPossible("ULLAGE_HELD_BYTES=much is no amount"));
        assertThat(new EnvRung().probe(new RankProcess(RANK, DEVICE, proc.resolve("gone"))))
                .isInstanceOf(Rung.Impossible.class);
    }

    @Test
    void aCeilingBelowItIsNotHeldByIt() throws IOException {
        assertThat(found(OURS, TORCH, MemoryBytes.ofMebibytes(512)))
                .isEqualTo(new NotPossible(
                        "it was started with 1.0 GiB, more than its ceiling of 512.0 MiB, and that needs a restart"));
    }
}
