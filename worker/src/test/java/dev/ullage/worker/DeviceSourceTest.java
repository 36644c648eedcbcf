package dev.ullage.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.ullage.worker.WorkerStartException.Kind;
import dev.ullage.worker.probe.HangingNvml;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeviceSourceTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @Test
    void aDriverThatHangsFromTheFirstCallOnIsSaidAndNotWaitedFor() {
        try (HangingNvml nvml = HangingNvml.start(folder)) {
            WorkerStartException failure = catchThrowableOfType(
                    WorkerStartException.class, () -> DeviceSource.openWithin(Duration.ofMillis(200), nvml.path()));

            assertThat(failure.kind()).isEqualTo(Kind.NO_DEVICES);
            assertThat(failure)
                    .hasMessage("no GPU can be used: the driver has not answered for 200 ms (a lost GPU, or"
                            + " one that needs a reset; see dmesg)");
        }
    }
}
