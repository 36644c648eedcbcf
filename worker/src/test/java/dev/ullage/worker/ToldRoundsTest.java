package dev.ullage.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.SimulatedSpec;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.DevicesSampled;
import dev.ullage.common.protocol.ToWorker.LearnFrom;
import dev.ullage.common.protocol.ToWorker.Reads;
import dev.ullage.worker.probe.GpuProbe;
import dev.ullage.worker.probe.SimulatedProbe;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How a whole worker of two devices tells of a round of readings, the test in the place of the coordinators. */
class ToldRoundsTest {
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
}
