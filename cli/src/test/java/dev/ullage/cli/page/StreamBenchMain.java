package dev.ullage.cli.page;

import com.sun.management.OperatingSystemMXBean;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.protocol.Protocol;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.EventsQuery;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.StatusQuery;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.common.protocol.ToOperator.DeviceStatus;
import dev.ullage.common.protocol.ToOperator.NodeStatus;
import dev.ullage.common.protocol.ToOperator.SampleStatus;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.config.CoordinatorSettings;
import dev.ullage.config.HttpSettings;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.ObservedPredictor;
import dev.ullage.coordinator.CoordinatorLogic;
import dev.ullage.coordinator.http.HttpApi;
import dev.ullage.coordinator.http.OperatorToken;
import dev.ullage.coordinator.metrics.MetricsPage;
import dev.ullage.coordinator.planning.RankDemands;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * What it costs a coordinator of 1,000 devices to be watched: the processor time of its ticks, and the processor time
 * of the whole process, without readers and with 50 readers of the stream and 20 scrapes of the metrics a second. What
 * coordinates is the shipped logic behind the shipped server; workers, readers and scrapes are in the same process, so
 * their part of the processor time is in the figures.
 */
public final class StreamBenchMain {
    private static final int DEVICES = 1_000;
    private static final int READERS = 50;
    private static final Duration SCRAPE_EVERY = Duration.ofMillis(50);
    private static final int TICKS_TO_WARM_UP = 60;
    private static final int TICKS = 80;
    private static final Duration TICK = Duration.ofMillis(250);
    /** Processor time, not time that passes: what else this machine does is not in the figures. */
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private StreamBenchMain() {}

    private enum Tick implements Runnable {
        INSTANCE;

        @Override
        public void run() {}
    }

    /** The coordinator's logic, its ticks timed. All of it is used by the one actor only, but for the figures. */
    private static final class Timed {
        private final CoordinatorLogic logic = new CoordinatorLogic(
                CoordinatorSettings.defaults(),
                LimitSettings.defaults(),
                new RankDemands(ObservedPredictor.PHASE_MAX),
                new NodeId("bench"),
                "bench",
                Instant.now());
        private final List<Long> ticks = Collections.synchronizedList(new ArrayList<>());
        private final List<Long> answers = Collections.synchronizedList(new ArrayList<>());
        private int moment;

        void tick(ActorRef<ToWorker> worker) {
            moment++;
            Instant now = Instant.now();
            for (NodeStatus node : BigCluster.of(DEVICES, moment).nodes()) {
                tell(node, worker, now);
            }
            long start = THREADS.getCurrentThreadCpuTime();
            logic.onTick(now);
            ticks.add(THREADS.getCurrentThreadCpuTime() - start);
            logic.takeEffects();
        }

        private void tell(NodeStatus node, ActorRef<ToWorker> worker, Instant now) {
            logic.onAnnounced(
                    new WorkerAnnounced(
                            node.node(),
                            Protocol.VERSION,
                            logic.leadership().token(),
                            node.devices().stream().map(DeviceStatus::info).toList(),
                            worker),
                    false,
                    now);
            for (DeviceStatus device : node.devices()) {
                logic.onReported(
                        new LimitsReported(
                                node.node(),
                                device.info().id(),
                                logic.leadership().token(),
                                0,
                                device.ledger().orElseThrow()),
                        now);
                SampleStatus sample = device.sample().orElseThrow();
                if (moment % 4 == 0) {
                    logic.onSampled(
                            new DeviceSampled(
                                    node.node(),
                                    device.info().id(),
                                    0,
                                    sample.memory(),
                                    sample.foreign(),
                                    sample.ranks(),
                                    List.of()),
                            now);
                }
            }
        }

        void answer(ToCoordinator message) {
            long start = THREADS.getCurrentThreadCpuTime();
            if (message instanceof StatusQuery query) {
                query.replyTo().tell(logic.status(Instant.now()));
            } else if (message instanceof EventsQuery query) {
                query.replyTo().tell(logic.events(query.after()));
            }
            answers.add(THREADS.getCurrentThreadCpuTime() - start);
        }
    }

    public static void main(String[] args) throws Exception {
        ActorTestKit kit = ActorTestKit.create();
        Timed timed = new Timed();
        ActorRef<ToWorker> worker = kit.<ToWorker>createTestProbe().getRef();
        ActorRef<ToCoordinator> coordinator = kit.spawn(Behaviors.transformMessages(
                ToCoordinator.class,
                behavior(timed, worker),
                builder -> builder.match(ToCoordinator.class, message -> () -> timed.answer(message))));
        int port = HttpApi.start(
                        kit.system(),
                        new HttpSettings("127.0.0.1", 0, false),
                        coordinator,
                        new NodeId("bench"),
                        OperatorToken.loadOrCreate(Files.createTempDirectory("ullage-bench")),
                        new MetricsPage(false))
                .toCompletableFuture()
                .get(10, TimeUnit.SECONDS)
                .localAddress()
                .getPort();
        try {
            System.out.printf("%d devices, %d ticks each, after %d to warm up%n", DEVICES, TICKS, TICKS_TO_WARM_UP);
            await(timed, TICKS_TO_WARM_UP);
            measure("nobody watches", timed);
            watched("http://127.0.0.1:" + port, timed);
        } finally {
            kit.shutdownTestKit();
        }
    }

    private static Behavior<Runnable> behavior(Timed timed, ActorRef<ToWorker> worker) {
        return Behaviors.withTimers(timers -> {
            timers.startTimerWithFixedDelay(Tick.INSTANCE, TICK);
            return Behaviors.receiveMessage(message -> {
                if (message == Tick.INSTANCE) {
                    timed.tick(worker);
                } else {
                    message.run();
                }
                return Behaviors.same();
            });
        });
    }

    private static void watched(String server, Timed timed) {
        HttpClient client = HttpClient.newBuilder().build();
        AtomicLong bytes = new AtomicLong();
        AtomicBoolean isOver = new AtomicBoolean();
        List<Thread> readers = new ArrayList<>();
        for (int i = 0; i < READERS; i++) {
            Thread reader = new Thread(() -> read(client, server + "/api/v1/stream", bytes, isOver));
            reader.setDaemon(true);
            reader.start();
            readers.add(reader);
        }
        Thread scraper = new Thread(() -> scrape(client, server + "/metrics", isOver));
        scraper.setDaemon(true);
        scraper.start();
        await(timed, TICKS_TO_WARM_UP);
        bytes.set(0);
        long start = System.nanoTime();
        measure(READERS + " readers, " + 1000 / SCRAPE_EVERY.toMillis() + " scrapes/s", timed);
        double seconds = (System.nanoTime() - start) / 1e9;
        System.out.printf(
                "each reader was sent %.0f kB/s; %d of %d still read%n",
                bytes.get() / seconds / READERS / 1e3,
                readers.stream().filter(Thread::isAlive).count(),
                READERS);
        isOver.set(true);
    }

    private static void read(HttpClient client, String url, AtomicLong bytes, AtomicBoolean isOver) {
        try (InputStream body = client.send(
                        HttpRequest.newBuilder(URI.create(url)).build(), BodyHandlers.ofInputStream())
                .body()) {
            byte[] buffer = new byte[1 << 16];
            for (int read = body.read(buffer); read >= 0 && !isOver.get(); read = body.read(buffer)) {
                bytes.addAndGet(read);
            }
        } catch (IOException e) {
            // The connection ended; the count of those that still read says so.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** At the set rate, as long as an answer takes less than the time between two. */
    private static void scrape(HttpClient client, String url, AtomicBoolean isOver) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url)).build();
        long next = System.nanoTime();
        try {
            while (!isOver.get()) {
                client.send(request, BodyHandlers.discarding());
                next += SCRAPE_EVERY.toNanos();
                LockSupport.parkNanos(next - System.nanoTime());
            }
        } catch (IOException e) {
            System.out.println("the scrapes ended: " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void await(Timed timed, int ticks) {
        int until = timed.ticks.size() + ticks;
        while (timed.ticks.size() < until) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }

    private static void measure(String what, Timed timed) {
        OperatingSystemMXBean machine = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        int first = timed.ticks.size();
        timed.answers.clear();
        long processor = machine.getProcessCpuTime();
        long start = System.nanoTime();
        await(timed, TICKS);
        double cores = (machine.getProcessCpuTime() - processor) / (double) (System.nanoTime() - start);
        List<Long> ticks = new ArrayList<>(timed.ticks.subList(first, first + TICKS));
        List<Long> answers = new ArrayList<>(timed.answers);
        System.out.printf(
                "%-30s tick median %.2f ms, 95 %% %.2f ms; %.1f questions/s at %.2f ms (median); %.2f cores%n",
                what,
                millis(ticks, 50),
                millis(ticks, 95),
                answers.size() / (TICKS * TICK.toMillis() / 1e3),
                millis(answers, 50),
                cores);
    }

    private static double millis(List<Long> nanos, int percentile) {
        if (nanos.isEmpty()) {
            return 0;
        }
        Collections.sort(nanos);
        return nanos.get(Math.min(nanos.size() - 1, nanos.size() * percentile / 100)) / 1e6;
    }
}
