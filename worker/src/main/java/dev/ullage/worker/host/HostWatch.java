package dev.ullage.worker.host;

import dev.ullage.common.model.Cpus;
import dev.ullage.common.model.HostCapacity;
import dev.ullage.common.model.MemoryBytes;
import java.time.Duration;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks at the host again and again, because memory comes and goes and limits may be changed. */
public final class HostWatch {
    private static final Logger LOG = LoggerFactory.getLogger(HostWatch.class);
    private static final Duration EVERY = Duration.ofSeconds(2);

    private final HostReader reader;
    private final HostCapacity atFirst;

    /** The time has come. */
    public enum Look {
        NOW
    }

    private HostWatch(HostReader reader, HostCapacity atFirst) {
        this.reader = reader;
        this.atFirst = atFirst;
    }

    /** Looks once, and says in the log what there is. */
    public static HostWatch of(HostReader reader) {
        HostReader.Reading first = reader.read();
        HostCapacity host = first.capacity();
        LOG.info(
                "cpus={} memory=\"{}\" available=\"{}\" reason=\"what this host has for jobs that ask for it\"",
                host.cpuMilli().isPresent() ? Cpus.text(host.cpuMilli().getAsInt()) : "unknown",
                host.memory().map(MemoryBytes::toString).orElse("unknown"),
                host.available().map(MemoryBytes::toString).orElse("unknown"));
        first.problems().forEach(problem -> LOG.warn("reason=\"{}\"", problem));
        return new HostWatch(reader, host);
    }

    /** What there was when it looked first. */
    public HostCapacity atFirst() {
        return atFirst;
    }

    /** Tells what there is, every {@link #EVERY}; reads files, so it is to run where that harms nobody. */
    public Behavior<Look> telling(ActorRef<HostCapacity> listener) {
        return Behaviors.<Look>withTimers(timers -> {
            timers.startTimerWithFixedDelay(Look.NOW, EVERY);
            return Behaviors.receiveMessage(look -> {
                listener.tell(reader.read().capacity());
                return Behaviors.same();
            });
        });
    }
}
