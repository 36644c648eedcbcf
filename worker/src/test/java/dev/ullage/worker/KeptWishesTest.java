package dev.ullage.worker;

import static dev.ullage.common.testing.Eventually.eventually;
import static dev.ullage.common.testing.Fixtures.token;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.SimulatedSpec;
import dev.ullage.common.protocol.OperatorRecord;
import dev.ullage.common.protocol.OperatorRecord.Drain;
import dev.ullage.common.protocol.OperatorRecord.Stamp;
import dev.ullage.common.protocol.ToCoordinator.WishesReported;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.common.protocol.ToWorker.KeepWishes;
import dev.ullage.common.protocol.ToWorker.LearnFrom;
import dev.ullage.worker.probe.SimulatedProbe;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A whole worker keeps what operators asked for, the test in the place of the coordinators. */
class KeptWishesTest {
    @TempDir
    private Path folder;

    private RunningWorker start() throws WorkerStartException {
        return RunningWorker.on(SimulatedProbe.create(RunningWorker.NODE, SimulatedSpec.parse("SIM-100G")), folder);
    }

    private static OperatorRecord record(long epoch, long sequence) {
        Drain drain = new Drain(RunningWorker.NODE, sequence, Optional.empty(), Optional.empty());
        return new OperatorRecord(new Stamp(token(epoch), sequence), List.of(drain), List.of());
    }

    private static void awaitHeld(RunningWorker worker, Optional<Stamp> stamp) {
        worker.await(
                WorkerAnnounced.class,
                announced -> announced.wishes().orElseThrow().stamp().equals(stamp));
    }

    private static void learn(RunningWorker worker) {
        worker.tell(new LearnFrom(token(9), worker.coordinator()));
        assertThat(worker.await(WishesReported.class)).isEqualTo(new WishesReported(RunningWorker.NODE, record(2, 5)));
    }

    @Test
    void theNewestIsKeptAnnouncedToldAndSurvivesARestart() throws Exception {
        try (RunningWorker worker = start()) {
            awaitHeld(worker, Optional.empty());
            worker.tell(new KeepWishes(token(2), record(2, 5)));
            awaitHeld(worker, Optional.of(new Stamp(token(2), 5)));
            worker.tell(new KeepWishes(token(9), record(1, 6)));
            learn(worker);
            eventually("it is on disk", () -> Files.exists(folder.resolve("s").resolve(WishFile.NAME)));
        }

        try (RunningWorker worker = start()) {
            awaitHeld(worker, Optional.of(new Stamp(token(2), 5)));
            learn(worker);
        }
    }
}
