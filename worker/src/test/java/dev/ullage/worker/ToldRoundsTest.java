package dev.ullage.worker;

import static dev.ullage.common.testing.Fixtures.mib;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.SimulatedSpec;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.DevicesSampled;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.common.protocol.ToWorker.LearnFrom;
import dev.ullage.common.protocol.ToWorker.Reads;
import dev.ullage.worker.probe.GpuProbe;
import dev.ullage.worker.probe.SimulatedProbe;
import dev.ullage.worker.testing.ScriptedProbe;
import java.nio.file.Path;
import java.util.Optional;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How a whole worker of two devices tells of a round of readings, the test in the place of the coordinators. */
class ToldRoundsTest {
    private static final String DEVICE = "GPU-1";

    @TempDir
    private Path folder;

    private static LearnFrom learn(RunningWorker worker, long epoch, Optional<Reads> reads) {
        return new LearnFrom(new CoordinatorToken(epoch, "me"), worker.coordinator(), reads);
    }

    @Test
    void roundsAreOneMessageForTheCoordinatorsThatReadThem() throws Exception {
        GpuProbe probe = SimulatedProbe.create(RunningWorker.NODE, SimulatedSpec.parse("2xSIM-100G"));
        try (RunningWorker worker = RunningWorker.on(probe, folder)) {
            // Nobody has said yet that they are read.
            assertThat(worker.await(DeviceSampled.class).memory()).isPresent();

            worker.tell(learn(worker, 1, Optional.of(new Reads(true))));
            assertThat(worker.await(DevicesSampled.class).samples()).hasSize(2).allMatch(sample -> sample.memory()
                    .isPresent());

            // An older coordinator takes over.
            worker.tell(learn(worker, 2, Optional.empty()));
            assertThat(worker.await(DeviceSampled.class).memory()).isPresent();
        }
    }

    /** While nothing is new one round in fifty is told, and so it would be of what follows. */
    @Test
    void anotherCoordinatorIsToldOfTheNextRound() throws Exception {
        ScriptedProbe probe = new ScriptedProbe(DEVICE, "GPU-2");
        try (RunningWorker worker = RunningWorker.on(probe, folder)) {
            ActorRef<ToWorker> link = worker.await(WorkerAnnounced.class).replyTo();
            int calls = probe.calls(DEVICE);

            for (int epoch = 1; epoch <= 20; epoch++) {
                link.tell(learn(worker, epoch, Optional.of(new Reads(true))));
                worker.await(DevicesSampled.class);
            }

            assertThat(probe.calls(DEVICE) - calls).isLessThan(300);
        }
    }

    @Test
    void whereReadingsAreCountedEachRoundIsToldToWhoCountsThem() throws Exception {
        ScriptedProbe probe = new ScriptedProbe(DEVICE);
        probe.uses(DEVICE, mib(192));
        try (RunningWorker worker = RunningWorker.on(probe, folder)) {
            worker.await(LimitsReported.class, report -> isForeign(report, 192));
            int calls = probe.calls(DEVICE);

            probe.uses(DEVICE, mib(128));
            worker.await(LimitsReported.class, report -> isForeign(report, 128));

            assertThat(probe.calls(DEVICE) - calls).isBetween(10, 150);
        }
    }

    private static boolean isForeign(LimitsReported report, long mebibytes) {
        return report.ledger().plannedForeign().equals(Optional.of(mib(mebibytes)));
    }
}
