package dev.ullage.worker.rungs;

import static dev.ullage.common.testing.Eventually.eventually;
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
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real processes with a preloaded library that shares a region in HAMi-core's layout, as a C compiler lays it out. */
class HamiRungTest {
    private static final Path SOURCE = Path.of("src/test/c/fake_hami.c");
    private static final DeviceInfo DEVICE = device("GPU-b", DeviceKind.DISCRETE);
    private static final int SECOND_LIMIT_AT = HamiRegion.LIMITS_AT + Long.BYTES;

    private final List<Process> processes = new ArrayList<>();
    private final HamiRung rung = new HamiRung();
    private Path folder;
    private Path region;
    private Path library;

    private static DeviceInfo device(String uuid, DeviceKind kind) {
        return new DeviceInfo(new DeviceId(uuid), 0, "H100-80G", kind, Optional.empty());
    }

    private static MemoryBytes mib(long mebibytes) {
        return MemoryBytes.ofMebibytes(mebibytes);
    }

    @BeforeEach
    void compileTheLibrary(@TempDir Path temporary) throws Exception {
        Requires.command("gcc", "gcc");
        folder = temporary;
        region = folder.resolve("cudevshr.cache");
        library = folder.resolve(HamiRung.LIBRARY);
        Process compiler = new ProcessBuilder(List.of(
                        "gcc",
                        "-std=gnu11",
                        "-Wall",
                        "-Wextra",
                        "-Werror",
                        "-shared",
                        "-fPIC",
                        "-o",
                        library.toString(),
                        SOURCE.toString(),
                        "-lpthread"))
                .inheritIO()
                .start();
        assertThat(compiler.waitFor()).isZero();
    }

    @AfterEach
    void endTheProcesses() throws InterruptedException {
        for (Process process : processes) {
            process.destroyForcibly().waitFor();
        }
    }

    private RankProcess start(int rank, Map<String, String> environment) throws IOException {
        ProcessBuilder builder = new ProcessBuilder("sleep", "600");
        builder.environment().remove("CUDA_VISIBLE_DEVICES");
        builder.environment().putAll(environment);
        Process process = builder.start();
        processes.add(process);
        return of(process, rank, DEVICE);
    }

    private static RankProcess of(Process process, int rank, DeviceInfo device) {
        RankInstance instance = new RankInstance(new RankId(new JobId("bert"), rank), process.pid(), 7);
        return new RankProcess(instance, device, Path.of("/proc"));
    }

    private Map<String, String> hami(Path cache) {
        return Map.of(
                "LD_PRELOAD",
                library.toString(),
                HamiRung.CACHE,
                cache.toString(),
                "FAKE_HAMI_UUIDS",
                "GPU-a,GPU-b",
                "FAKE_HAMI_USED",
                Long.toString(mib(300).value()));
    }

    private RankProcess startHeld(int rank, Path cache) throws IOException {
        RankProcess process = start(rank, hami(cache));
        eventually("the region is set up", () -> seen(cache).contains("0"));
        return process;
    }

    private static List<String> seen(Path cache) {
        try {
            Path file = Path.of(cache + ".seen");
            return Files.exists(file) ? Files.readAllLines(file) : List.of();
        } catch (IOException e) {
            return List.of();
        }
    }

    private Rung.Grip grip(RankProcess process) {
        assertThat(rung.probe(process)).isInstanceOf(Rung.Possible.class);
        return ((Rung.Possible) rung.probe(process)).grip();
    }

    private String whyNot(RankProcess process) {
        assertThat(rung.probe(process)).isInstanceOf(Rung.Impossible.class);
        return ((Rung.Impossible) rung.probe(process)).why();
    }

    private void write(long at, long value) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(region.toFile(), "rw")) {
            file.seek(at);
            file.writeLong(Long.reverseBytes(value));
        }
    }

    @Test
    void theProcessSeesTheLimitOfItsDeviceAndNoOther() throws IOException {
        Rung.Grip grip = grip(startHeld(0, region));

        assertThat(grip.apply(mib(4000))).isEqualTo(mib(4000));

        eventually("the process sees it", () -> seen(region)
                .contains(Long.toString(mib(4000).value())));
        try (RandomAccessFile file = new RandomAccessFile(region.toFile(), "r")) {
            file.seek(HamiRegion.LIMITS_AT);
            assertThat(file.readLong()).isZero();
            assertThat(Long.reverseBytes(file.readLong())).isEqualTo(mib(4000).value());
        }
        assertThat(grip.apply(mib(5000))).isEqualTo(mib(5000));
        eventually("the process sees it grow", () -> seen(region)
                .contains(Long.toString(mib(5000).value())));
    }

    @Test
    void aLimitIsNeverBelowWhatIsUsedAndNeverZeroWhichWouldBeNone() throws IOException {
        RankProcess process = startHeld(0, region);
        Rung.Grip grip = grip(process);

        assertThat(grip.apply(mib(100))).isEqualTo(mib(300));
        write(1856 + 8 + 64 + 32, 0);
        assertThat(grip.apply(MemoryBytes.ZERO)).isEqualTo(MemoryBytes.of(1));
    }

    @Test
    void whatSomebodyElseWroteIsPutRightInTheNextRound() throws IOException {
        Rung.Grip grip = grip(startHeld(0, region));
        grip.apply(mib(4000));
        write(SECOND_LIMIT_AT, 0);

        assertThat(grip.apply(mib(4000))).isEqualTo(mib(4000));
    }

    @Test
    void twoRanksThatShareARegionAreNotHeldForItLimitsTheirSum() throws IOException {
        RankProcess first = startHeld(0, region);
        Rung.Grip grip = grip(first);
        RankProcess second = start(1, hami(region));
        eventually("it is loaded", () -> {
            try {
                return second.hasLoaded(HamiRung.LIBRARY);
            } catch (IOException e) {
                return false;
            }
        });

        assertThat(whyNot(second)).contains("shares the region").contains("bert/0");
        IOException lost = catchThrowableOfType(IOException.class, () -> grip.apply(mib(4000)));
        assertThat(lost).hasMessageContaining("bert/1 shares its region");
        rung.clear(first.instance());
        assertThat(rung.probe(second)).isInstanceOf(Rung.Possible.class);
    }

    @Test
    void whyNotIsSaidForEachReason() throws IOException {
        RankProcess bare = start(0, Map.of());
        assertThat(whyNot(bare)).startsWith("HAMi-core is not loaded into it");
        assertThat(whyNot(new RankProcess(bare.instance(), device("MIG-1", DeviceKind.MIG), Path.of("/proc"))))
                .contains("MIG");
        assertThat(whyNot(new RankProcess(bare.instance(), DEVICE, folder))).contains("cannot be looked at");
        RankProcess held = startHeld(1, region);
        assertThat(whyNot(new RankProcess(held.instance(), device("GPU-c", DeviceKind.DISCRETE), Path.of("/proc"))))
                .contains("does not name device GPU-c");

        Path gone = folder.resolve("moved");
        Files.move(region, gone);
        assertThat(whyNot(held)).contains("does not exist yet");
        Files.createSymbolicLink(region, gone);
        assertThat(whyNot(held)).contains("cannot be used");
        Files.delete(region);
        Files.write(region, new byte[100]);
        assertThat(whyNot(held)).contains("it has 100 bytes");
        Files.move(gone, region, StandardCopyOption.REPLACE_EXISTING);
        write(8, 3);
        assertThat(whyNot(held)).contains("its layout is 1.3");
        write(0, 0);
        assertThat(whyNot(held)).contains("it is not set up");
    }

    @Test
    void severalDevicesThatTheRankRenumbersCannotBeToldApart() throws IOException {
        java.util.TreeMap<String, String> environment = new java.util.TreeMap<>(hami(region));
        environment.put("CUDA_VISIBLE_DEVICES", "1,0");
        RankProcess process = start(0, environment);
        eventually("the region is set up", () -> seen(region).contains("0"));

        assertThat(whyNot(process)).contains("CUDA_VISIBLE_DEVICES");
    }

    @Test
    void aRegionThatIsCutShortLetsGoInsteadOfTakingTheWorkerDown() throws IOException {
        RankProcess process = startHeld(0, region);
        Rung.Grip grip = grip(process);
        grip.apply(mib(4000));
        processes.get(0).destroyForcibly();
        processes.get(0).onExit().join();
        try (RandomAccessFile file = new RandomAccessFile(region.toFile(), "rw")) {
            file.setLength(0);
        }

        IOException lost = catchThrowableOfType(IOException.class, () -> grip.apply(mib(5000)));

        assertThat(lost).hasMessageContaining("cut short");
    }
}
