package dev.ullage.worker.probe;

import java.nio.file.Path;
import java.time.Duration;

/** A library whose first call does not come back until this is closed. */
public final class HangingNvml implements AutoCloseable {
    private final FakeNvml nvml;

    private HangingNvml(FakeNvml nvml) {
        this.nvml = nvml;
    }

    public static HangingNvml start(Path folder) {
        return new HangingNvml(FakeNvml.compile(folder).withDevices(1).with("rc.nvmlInit_v2", "hang"));
    }

    public String path() {
        return nvml.path();
    }

    @Override
    public void close() {
        nvml.without("rc.nvmlInit_v2");
        // It logs its calls beside the library: a folder cannot be deleted while it does.
        Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("probe-open"))
                .forEach(HangingNvml::awaitEnd);
    }

    private static void awaitEnd(Thread thread) {
        try {
            thread.join(Duration.ofSeconds(20).toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
