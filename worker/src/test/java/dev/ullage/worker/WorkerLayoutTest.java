package dev.ullage.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.worker.probe.FakeNvml;
import dev.ullage.worker.probe.NvmlProbe;
import dev.ullage.worker.ranks.RankClient;
import dev.ullage.worker.testing.LogWatch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * A whole worker on a driver that numbers its devices anew, or cuts one into MIG instances and makes it whole again.
 */
class WorkerLayoutTest {
    private static final DeviceId FIRST = new DeviceId(FakeNvml.uuid(0));
    private static final DeviceId SECOND = new DeviceId(FakeNvml.uuid(1));
    private static final DeviceId SLICE = new DeviceId("MIG-0b0b0b0b-0000-5000-9000-000000000001");
    private static final MemoryBytes A10 = MemoryBytes.of(24146608128L - 541917184L);
    private static final Map<String, Object> CUT = Map.of(
            "device.0.mig",
            1,
            "device.0.mig0.uuid",
            SLICE,
            "device.0.mig0.name",
            "NVIDIA A100-SXM4-40GB MIG 1g.5gb",
            "device.0.mig0.gi",
            9,
            "device.0.mig0.ci",
            0,
            "device.0.mig0.memory",
            "5000000000,0,0,5000000000");

    @RegisterExtension
    final LogWatch log = new LogWatch();

    private Path folder;
    private FakeNvml nvml;
    private Optional<RunningWorker> running = Optional.empty();

    @BeforeEach
    void twoDevices(@TempDir Path temporary) throws IOException {
        folder = temporary;
        nvml = FakeNvml.compile(Files.createDirectory(folder.resolve("nvml")))
                .withDevices(2)
                .with(Map.of("device.0.mig", 0, "device.0.migmax", 7, "device.1.mig", 0));
    }

    @AfterEach
    void stopTheWorker() {
        running.ifPresent(RunningWorker::close);
    }

    private RunningWorker start() throws Exception {
        RunningWorker worker = RunningWorker.on(NvmlProbe.open(nvml.path()), folder);
        running = Optional.of(worker);
        return worker;
    }

    private static List<String> announced(RunningWorker worker, String... devices) {
        return worker
                .await(WorkerAnnounced.class, message -> indices(message).equals(List.of(devices)))
                .devices()
                .stream()
                .map(DeviceInfo::toString)
                .toList();
    }

    private static List<String> indices(WorkerAnnounced message) {
        return message.devices().stream()
                .map(device -> device.index() + " " + device.id())
                .toList();
    }

    private static String at(int index, DeviceId device) {
        return index + " " + device;
    }

    @Test
    void aDeviceIsShownUnderTheNumberThatTheDriverGivesItNow() throws Exception {
        RunningWorker worker = start();
        announced(worker, at(0, FIRST), at(1, SECOND));

        nvml.with(Map.of("device.0.uuid", SECOND, "device.0.pci", "00000000:0A:00.0", "device.1.uuid", FIRST));

        assertThat(announced(worker, at(1, FIRST), at(0, SECOND)).get(1)).contains("00000000:0A:00.0");
        try (RankClient client = RankClient.connect(worker.socket())) {
            client.say(RankClient.hello(0, ProcessHandle.current().pid(), ",\"device\":\"1\""));
            assertThat(client.hear().toString()).contains(FIRST.value());
            worker.await(LimitsReported.class, report -> isPromising(report, FIRST));
        }
    }

    private static boolean isPromising(LimitsReported report, DeviceId device) {
        return report.device().equals(device) && !report.ledger().grants().isEmpty();
    }

    private static boolean has(LimitsReported report, DeviceId device, MemoryBytes allocatable) {
        return report.device().equals(device)
                && report.ledger().wanted().allocatable().equals(allocatable);
    }

    // Promises of ranks stay until these end, and are seen; nothing new is promised; nothing is counted twice.
    @Test
    void theMemoryOfACardThatIsCutIsItsInstancesAloneAndItsOwnAgainWhenItIsWhole() throws Exception {
        RunningWorker worker = start();
        Process process = new ProcessBuilder("sleep", "60").start();
        try (RankClient client = RankClient.connect(worker.socket())) {
            client.say(RankClient.hello(0, process.pid(), ""));
            client.hear();
            worker.await(LimitsReported.class, report -> isPromising(report, FIRST));

            nvml.with(CUT);

            announced(worker, at(0, FIRST), at(1, SECOND), at(0, SLICE));
            LimitsReported cut = worker.await(LimitsReported.class, report -> has(report, FIRST, MemoryBytes.ZERO));
            assertThat(cut.ledger().grants()).hasSize(1);
            DeviceSampled sample = worker.await(
                    DeviceSampled.class, sampled -> sampled.device().equals(FIRST));
            assertThat(sample.memory()).isEmpty();
            assertThat(sample.problems()).anyMatch(problem -> problem.contains("MIG mode"));
        } finally {
            process.destroyForcibly().waitFor();
        }
        announced(worker, at(1, SECOND), at(0, SLICE));

        nvml.with("device.0.mig", 0);

        announced(worker, at(0, FIRST), at(1, SECOND));
        worker.await(LimitsReported.class, report -> has(report, FIRST, A10));
        worker.await(LimitsReported.class, report -> has(report, SLICE, MemoryBytes.ZERO));
        assertThat(log.warnings()).noneMatch(line -> line.contains("state=LOST"));
    }

    @Test
    void anInstanceThatVanishesUnderARankIsShownUntilTheRankHasEnded() throws Exception {
        nvml.with(CUT);
        RunningWorker worker = start();
        Process process = new ProcessBuilder("sleep", "60").start();
        try (RankClient client = RankClient.connect(worker.socket())) {
            client.say(RankClient.hello(0, process.pid(), ",\"device\":\"" + SLICE + "\""));
            client.hear();
            worker.await(LimitsReported.class, report -> isPromising(report, SLICE));

            nvml.without("device.0.mig0.uuid");

            LimitsReported report = worker.await(LimitsReported.class, now -> has(now, SLICE, MemoryBytes.ZERO));
            assertThat(report.ledger().grants()).hasSize(1);
            announced(worker, at(0, SLICE), at(1, SECOND));
        } finally {
            process.destroyForcibly().waitFor();
        }
        announced(worker, at(1, SECOND));
    }
}
