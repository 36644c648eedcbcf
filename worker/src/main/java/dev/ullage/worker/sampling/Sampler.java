package dev.ullage.worker.sampling;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.worker.probe.GpuProbe;
import java.time.Duration;
import java.util.function.BiConsumer;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * Reads every device at a fixed pace and passes each reading on. Blocks in the driver, so it runs on the dispatcher for
 * blocking work. Soft state only: the next round replaces this one.
 */
public final class Sampler {
    private Sampler() {}

    /** The one thing a sampler is told: to read now. */
    public enum Command {
        ROUND
    }

    /**
     * @param interval from the end of one round to the start of the next
     * @param onReading receives each reading, on the sampler's thread
     */
    public static Behavior<Command> create(
            GpuProbe probe, Duration interval, BiConsumer<DeviceId, DeviceReading> onReading) {
        return Behaviors.withTimers(timers -> {
            timers.startTimerWithFixedDelay(Command.ROUND, Duration.ZERO, interval);
            return Behaviors.receive(Command.class)
                    .onMessageEquals(Command.ROUND, () -> {
                        for (DeviceInfo device : probe.devices()) {
                            onReading.accept(device.id(), probe.read(device.id()));
                        }
                        return Behaviors.same();
                    })
                    .build();
        });
    }
}
