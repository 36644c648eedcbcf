package dev.ullage.worker.rungs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.testing.Requires;
import dev.ullage.worker.probe.DriverLimits;
import dev.ullage.worker.probe.FakeNvml;
import dev.ullage.worker.probe.NvmlProbe;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real processes in real cgroups of version 2; the driver is a library without a GPU. */
class DriverRungTest {
    private static final Path PROC = Path.of("/proc");
    private static final Cgroups CGROUPS = new Cgroups(PROC);
    private static final DeviceInfo DEVICE =
            new DeviceInfo(new DeviceId(FakeNvml.uuid(0)), 0, "A10", DeviceKind.DISCRETE, Optional.empty());

    private final List<Process> processes = new ArrayList<>();
    private Path folder;
    private Path shared;
    private FakeNvml nvml;
    private NvmlProbe probe;
    private LeafList leaves;
    private DriverRung rung;

    @BeforeEach
    void aCgroupOfOurOwn(@TempDir Path temporary) throws Exception {
        folder = temporary;
        shared = madeCgroup();
        nvml = FakeNvml.compile(folder).withDevices(1).with("limitstep", 256 << 20);
        probe = NvmlProbe.open(nvml.path());
        leaves = new LeafList(folder.resolve("cgroups"));
        rung = new DriverRung(limits(), CGROUPS, leaves);
    }

    @AfterEach
    void leaveNothing() throws Exception {
        for (Process process : processes) {
            process.destroyForcibly().waitFor();
        }
        if (shared != null) {
            for (Path leaf : leaves()) {
                Files.delete(leaf);
            }
            Files.deleteIfExists(shared);
        }
        if (probe != null) {
            probe.close();
        }
    }

    private static Path madeCgroup() throws IOException {
        Optional<Path> mount = CGROUPS.mount();
        Requires.that(mount.isPresent(), Requires.MACHINE + "cgroup version 2 is not mounted");
        Path made = mount.orElseThrow()
                .resolve("ullage-test-" + ProcessHandle.current().pid());
        try {
            return Files.createDirectories(made);
        } catch (IOException e) {
            Requires.that(false, Requires.MACHINE + "no permission to make a cgroup: " + e.getMessage());
            throw e;
        }
    }

    private DriverLimits limits() {
        return probe.driverLimits().orElseThrow();
    }

    private List<Path> leaves() throws IOException {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(shared, Files::isDirectory)) {
            folders.forEach(found::add);
        }
        return found;
    }

    private RankProcess start(int rank) throws IOException {
        Process process = new ProcessBuilder("sleep", "600").start();
        processes.add(process);
        CGROUPS.move(process.pid(), shared);
        RankInstance instance = new RankInstance(new RankId(new JobId("bert large"), rank), process.pid(), 7);
        return new RankProcess(instance, DEVICE, PROC);
    }

    private Rung.Grip grip(RankProcess process) {
        Rung.Attempt attempt = rung.probe(process);
        assertThat(attempt).isInstanceOf(Rung.Possible.class);
        return ((Rung.Possible) attempt).grip();
    }

    private String whyNot(RankProcess process) {
        Rung.Attempt attempt = rung.probe(process);
        assertThat(attempt).isInstanceOf(Rung.Impossible.class);
        return ((Rung.Impossible) attempt).why();
    }

    private long sets() throws IOException {
        return nvml.log().stream().filter(line -> line.startsWith("limits ")).count();
    }

    private static MemoryBytes mib(long mebibytes) {
        return MemoryBytes.ofMebibytes(mebibytes);
    }

    private void end(int index) throws InterruptedException {
        processes.get(index).destroyForcibly().waitFor();
    }

    @Test
    void aRankThatSharesItsCgroupGetsOneBelowItAndWhatIsReadBackIsInForce() throws Exception {
        RankProcess first = start(0);
        RankProcess second = start(1);

        Rung.Grip grip = grip(first);

        assertThat(grip.apply(mib(4000))).isEqualTo(mib(4096));
        Path leaf = CGROUPS.of(first.instance().pid());
        assertThat(leaf.getParent()).isEqualTo(shared);
        assertThat(leaf.getFileName().toString()).startsWith("ullage-rank-bert_large_0_");
        assertThat(CGROUPS.of(second.instance().pid())).isEqualTo(shared);
        assertThat(limits().get(DEVICE.id(), leaf).soft()).isEqualTo(mib(4096));
        long asked = sets();
        grip.apply(mib(4000));
        assertThat(sets()).isEqualTo(asked);
        limits().clear(DEVICE.id(), leaf);
        assertThat(grip.apply(mib(4000))).isEqualTo(mib(4096));
        assertThat(grip(second).apply(mib(1024))).isEqualTo(mib(1024));
        assertThat(grip.apply(mib(8192))).isEqualTo(mib(8192));
        nvml.with("device.0.limitused", mib(6144).value());
        assertThat(grip.apply(mib(4000))).isEqualTo(mib(6144));
    }

    @Test
    void theGuaranteeIsGivenBackBeforeTheCgroupIsDeleted() throws Exception {
        RankProcess first = start(0);
        start(1);
        grip(first).apply(mib(4000));
        Path leaf = CGROUPS.of(first.instance().pid());
        end(0);

        rung.clear(first.instance());

        assertThat(leaf).doesNotExist();
        assertThat(leaves.all()).isEmpty();
        // The fake refuses a cgroup that does not exist, so this was before.
        assertThat(nvml.log()).contains("limits 0 18446744073709551615 " + leaf);
    }

    @Test
    void whatACrashLeftIsGivenBackAtTheNextStartUnlessARankIsInIt() throws Exception {
        RankProcess dead = start(0);
        RankProcess alive = start(1);
        start(2);
        grip(dead).apply(mib(4000));
        grip(alive).apply(mib(4000));
        Path deadLeaf = CGROUPS.of(dead.instance().pid());
        Path aliveLeaf = CGROUPS.of(alive.instance().pid());
        end(0);

        rung = new DriverRung(limits(), CGROUPS, leaves);
        rung.sweep();

        assertThat(deadLeaf).doesNotExist();
        assertThat(limits().get(DEVICE.id(), aliveLeaf).hard()).contains(mib(4096));
        assertThat(grip(alive).apply(mib(2048))).isEqualTo(mib(2048));
        end(1);
        rung.clear(alive.instance());
        assertThat(aliveLeaf).doesNotExist();
    }

    @Test
    void aCgroupOfItsOwnIsUsedAsItIsUntilAnotherProcessComes() throws Exception {
        RankProcess only = start(0);
        Rung.Grip grip = grip(only);
        assertThat(grip.apply(mib(4000))).isEqualTo(mib(4096));
        assertThat(CGROUPS.of(only.instance().pid())).isEqualTo(shared);

        start(1);

        assertThat(catchThrowableOfType(IOException.class, () -> grip.apply(mib(4000))))
                .hasMessageContaining("shared");
        rung.clear(only.instance());
        assertThat(shared).exists();
    }

    @Test
    void aLimitThatSomebodyElseSetIsLeftAlone() throws Exception {
        RankProcess only = start(0);
        limits().set(DEVICE.id(), shared, mib(1024));

        assertThat(whyNot(only)).contains("that somebody else set");
        assertThat(limits().get(DEVICE.id(), shared).hard()).contains(mib(1024));
    }

    @Test
    void whereTheDriverRefusesNothingIsMovedAndNothingIsLeft() throws Exception {
        RankProcess first = start(0);
        start(1);
        nvml.with("rc.nvmlDeviceSetMemoryLimits_v1", 4);

        assertThat(whyNot(first)).contains("NO_PERMISSION");
        assertThat(CGROUPS.of(first.instance().pid())).isEqualTo(shared);
        assertThat(leaves()).isEmpty();
        assertThat(leaves.all()).isEmpty();
        nvml.with("rc.nvmlDeviceGetMemoryLimits_v1", 13);
        assertThat(whyNot(first)).contains("FUNCTION_NOT_FOUND");
        DeviceInfo mig = new DeviceInfo(new DeviceId("MIG-1"), 0, "A100", DeviceKind.MIG, Optional.empty());
        assertThat(whyNot(new RankProcess(first.instance(), mig, PROC))).contains("MIG");
    }
}
