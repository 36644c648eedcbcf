package dev.ullage.cli.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Coordinators and workers as processes of their own, joined by a settings file each. */
final class TestCluster implements AutoCloseable {
    private static final Duration READY_WITHIN = Duration.ofSeconds(90);

    private final Path folder;
    private final String transport;
    private final Function<String, String> further;
    private final List<Node> coordinators = new ArrayList<>();
    private final List<Node> workers = new ArrayList<>();

    /** One process: its command, ports and folder, so that it can be started again. */
    final class Node implements AutoCloseable {
        private final String name;
        private final String role;
        private final int clusterPort = Ports.free();
        private final int httpPort = Ports.free();
        private @Nullable TestProcess process;

        private Node(String name, String role) {
            this.name = name;
            this.role = role;
        }

        void start() {
            process = TestProcess.start(
                    folder,
                    name + "-" + System.nanoTime(),
                    List.of(
                            Distribution.ullage(),
                            role,
                            "--config",
                            settingsFile().toString()),
                    Map.of());
        }

        void awaitReady() {
            process().awaitOutput("ready", READY_WITHIN);
        }

        private Path settingsFile() {
            return folder.resolve(name + ".conf");
        }

        String name() {
            return name;
        }

        Path stateDir() {
            return folder.resolve(name);
        }

        Path socket() {
            return stateDir().resolve("ranks.sock");
        }

        int clusterPort() {
            return clusterPort;
        }

        Api api() {
            return new Api(httpPort);
        }

        TestProcess process() {
            if (process == null) {
                throw new IllegalStateException(name + " was not started");
            }
            return process;
        }

        private void writeSettings(String seeds) {
            String settings =
                    """
                    ullage {
                      node { name = "%s", state-dir = "%s" }
                      cluster { transport = %s, port = %d, seed-nodes = [%s] }
                      http.port = %d
                      worker.devices.simulate = "4xH100-80G"
                    }
                    %s
                    """
                            .formatted(name, stateDir(), transport, clusterPort, seeds, httpPort, further.apply(name));
            try {
                Files.writeString(settingsFile(), settings);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void close() {
            if (process != null) {
                process.close();
            }
        }
    }

    TestCluster(Path folder, String transport, int coordinatorCount, int workerCount) {
        this(folder, transport, coordinatorCount, workerCount, name -> "");
    }

    /** @param further settings of a node by its name, each line with its full key */
    TestCluster(
            Path folder, String transport, int coordinatorCount, int workerCount, Function<String, String> further) {
        this.folder = folder;
        this.further = further;
        this.transport = transport;
        IntStream.range(0, coordinatorCount).forEach(i -> coordinators.add(new Node("c" + i, "coordinator")));
        IntStream.range(0, workerCount).forEach(i -> workers.add(new Node("w" + i, "worker")));
        String seeds = coordinators.stream()
                .map(node -> "\"127.0.0.1:" + node.clusterPort + "\"")
                .collect(Collectors.joining(", "));
        all().forEach(node -> node.writeSettings(seeds));
    }

    void start() {
        all().forEach(Node::start);
        all().forEach(Node::awaitReady);
    }

    Node coordinator(int index) {
        return coordinators.get(index);
    }

    List<Node> coordinators() {
        return coordinators;
    }

    Node worker(int index) {
        return workers.get(index);
    }

    private List<Node> all() {
        List<Node> all = new ArrayList<>(coordinators);
        all.addAll(workers);
        return all;
    }

    @Override
    public void close() {
        all().forEach(Node::close);
    }
}
