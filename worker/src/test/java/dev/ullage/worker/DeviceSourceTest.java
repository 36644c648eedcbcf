package dev.ullage.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.ullage.worker.probe.HangingNvml;
import dev.ullage.worker.probe.ProbeUnavailableException;
import dev.ullage.worker.probe.ProbeUnavailableException.Reason;
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
            ProbeUnavailableException failure = catchThrowableOfType(
                    ProbeUnavailableException.class,
                    () -> DeviceSource.openWithin(Duration.ofMillis(200), nvml.path()));

            assertThat(failure.reason()).isEqualTo(Reason.DRIVER_HANGS);
            assertThat(failure)
                    .hasMessage("the driver has not answered for 200 ms (a lost GPU, or one that needs a reset;"
                            + " see dmesg)");
        }
    }
}
