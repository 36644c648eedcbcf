package dev.ullage.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.DeviceWatched;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.worker.ranks.RankClient;
import dev.ullage.worker.testing.LogWatch;
import dev.ullage.worker.testing.ScriptedProbe;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A whole worker while devices come, go and hang. */
class WorkerDevicesTest {
    private static final DeviceId FIRST = new DeviceId("GPU-1");
    private static final DeviceId SECOND = new DeviceId("GPU-2");

    @RegisterExtension
    final LogWatch log = new LogWatch();

    private final ScriptedProbe probe = new ScriptedProbe(FIRST.value());
    private Optional<RunningWorker> running = Optional.empty();
    private Path folder;

    @BeforeEach
    void aFolder(@TempDir Path temporary) {
        folder = temporary;
    }

    @AfterEach
    void stopTheWorker() {
        probe.release(FIRST.value());
        running.ifPresent(RunningWorker::close);
    }

    private RunningWorker start() throws WorkerStartException {
        RunningWorker worker = RunningWorker.on(probe, folder);
        running = Optional.of(worker);
        return worker;
    }

    private static List<DeviceId> ids(WorkerAnnounced announced) {
        return announced.devices().stream().map(DeviceInfo::id).toList();
    }

    @Test
    void aDeviceThatComesLaterIsAnnouncedHasALedgerAndTakesRanks() throws Exception {
        RunningWorker worker = start();
        probe.becomes(FIRST.value(), SECOND.value());

        worker.await(WorkerAnnounced.class, announced -> ids(announced).equals(List.of(FIRST, SECOND)));
        LimitsReported report =
                worker.await(LimitsReported.class, limits -> limits.device().equals(SECOND));
        assertThat(report.ledger().inForce().allocatable()).isEqualTo(MemoryBytes.ofGibibytes(100));

        long pid = ProcessHandle.current().pid();
        try (RankClient client = RankClient.connect(worker.socket())) {
            client.say(RankClient.hello(0, pid, ",\"device\":\"GPU-2\""));
            assertThat(client.hear().path("type").textValue()).isEqualTo("welcome");
            worker.await(
                    LimitsReported.class,
                    limits -> limits.device().equals(SECOND)
                            && limits.ledger().grants().size() == 1);
        }
    }

    @Test
    void aDeviceThatVanishesKeepsItsGrantsUntilTheProcessesEndAndIsStillShown() throws Exception {
        log.expectError("device=GPU-1");
        RunningWorker worker = start();
        Process process = new ProcessBuilder("sleep", "60").start();
        try (RankClient client = RankClient.connect(worker.socket())) {
            client.say(RankClient.hello(0, process.pid(), ""));
            client.hear();
            RankInstance instance = worker.await(
                            LimitsReported.class,
                            limits -> !limits.ledger().grants().isEmpty())
                    .ledger()
                    .grants()
                    .get(0)
                    .instance();

            probe.becomes(SECOND.value());

            DeviceSampled sample = worker.await(
                    DeviceSampled.class,
                    sampled ->
                            sampled.device().equals(FIRST) && sampled.problems().contains("not listed"));
            assertThat(sample.memory()).isPresent();
            worker.await(WorkerAnnounced.class, announced -> ids(announced).equals(List.of(FIRST, SECOND)));
            LimitsReported report =
                    worker.await(LimitsReported.class, limits -> limits.device().equals(FIRST));
            assertThat(report.ledger().grants().get(0).instance()).isEqualTo(instance);
        } finally {
            process.destroyForcibly().waitFor();
        }
        worker.await(
                LimitsReported.class,
                limits -> limits.device().equals(FIRST)
                        && limits.ledger().grants().isEmpty());
    }

    @Test
    void aDeviceThatHangsIsReportedWithItsAgeWhileRanksAreServed() throws Exception {
        RunningWorker worker = start();
        worker.await(DeviceSampled.class, sampled -> sampled.memory().isPresent());
        probe.hang(FIRST.value());

        DeviceWatched watched =
                worker.await(DeviceWatched.class, device -> device.quality().state() == SampleState.STALE);
        DeviceSampled sample = worker.await(DeviceSampled.class, sampled -> sampled.ageMillis() > 1_000);

        assertThat(watched.quality().lostSamples()).isPositive();
        assertThat(sample.memory()).isPresent();
        try (RankClient client = RankClient.connect(worker.socket())) {
            client.say(RankClient.hello(0, ProcessHandle.current().pid(), ""));
            assertThat(client.hear().path("type").textValue()).isEqualTo("welcome");
        }
        probe.release(FIRST.value());
        worker.await(DeviceWatched.class, device -> device.quality().state() == SampleState.FRESH);
    }
}
