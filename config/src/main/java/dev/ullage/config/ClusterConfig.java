package dev.ullage.config;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigParseOptions;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The settings as Pekko's configuration. What does not depend on them is in {@code *-system.conf} beside this class.
 */
public final class ClusterConfig {
    /** Name of the cluster's ActorSystem; the same on all nodes, it is part of their addresses. */
    public static final String SYSTEM_NAME = "ullage";

    public static final String COORDINATOR_ROLE = "coordinator";
    public static final String WORKER_ROLE = "worker";

    /** Dispatcher for calls that wait; in both kinds of ActorSystem. */
    public static final String BLOCKING_DISPATCHER = "ullage.blocking-dispatcher";

    /** Nothing in a worker is timed more finely than this; whoever reads devices keeps a time of its own. */
    private static final Duration LONGEST_TICK = Duration.ofMillis(125);

    /**
     * For so long the first seed node asks the others before it begins a cluster of its own. Where all of them are
     * there and none is in a cluster, it begins one at once; after Pekko's 5 s one that was started again beside busy
     * ones was alone.
     */
    private static final Duration FIRST_SEED_PATIENCE = Duration.ofSeconds(20);

    private static final String TLS_ENGINE = "pekko.remote.artery.ssl.rotating-keys-engine.";

    private ClusterConfig() {}

    /** For the ActorSystem that is a member of the cluster. Pekko adds its own defaults. */
    public static Config toPekkoConfig(UllageSettings settings, Set<String> roles) {
        ClusterSettings cluster = settings.cluster();
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("pekko.remote.artery.transport", cluster.transport().label());
        values.put("pekko.remote.artery.canonical.hostname", cluster.host());
        values.put("pekko.remote.artery.canonical.port", cluster.port());
        values.put("pekko.cluster.seed-nodes", seedNodes(cluster));
        values.put("pekko.cluster.roles", List.copyOf(new TreeSet<>(roles)));
        values.put(
                "pekko.cluster.split-brain-resolver.keep-majority.role",
                cluster.majorityOf() == MajorityOf.COORDINATORS ? COORDINATOR_ROLE : "");
        FailoverSettings failover = cluster.failover();
        values.put("pekko.cluster.split-brain-resolver.stable-after", failover.stableAfter());
        values.put("pekko.cluster.failure-detector.heartbeat-interval", failover.heartbeatInterval());
        values.put("pekko.cluster.failure-detector.acceptable-heartbeat-pause", failover.acceptableHeartbeatPause());
        if (isFirstSeed(cluster)) {
            values.put("pekko.cluster.seed-node-timeout", FIRST_SEED_PATIENCE);
        }
        cluster.tls().ifPresent(tls -> {
            // Reads PEM files, again every five minutes: certificates can be replaced while nodes run. Both sides show
            // one; host names are not compared, but the two certificates must have a subject name in common.
            values.put(
                    "pekko.remote.artery.ssl.ssl-engine-provider",
                    "org.apache.pekko.remote.artery.tcp.ssl.RotatingKeysSSLEngineProvider");
            values.put(TLS_ENGINE + "cert-file", tls.certificate().toString());
            values.put(TLS_ENGINE + "key-file", tls.key().toString());
            values.put(TLS_ENGINE + "ca-cert-file", tls.ca().toString());
        });
        Config settled = ConfigFactory.parseMap(values, "settings of Ullage");
        // A coordinator has many to answer; a worker has one that it answers to.
        return (roles.contains(COORDINATOR_ROLE) ? settled : settled.withFallback(resource("quiet-system.conf")))
                .withFallback(resource("cluster-system.conf"))
                .withFallback(resource("base-system.conf"));
    }

    /** For an ActorSystem that talks to nobody: it outlives every membership. */
    public static Config localConfig() {
        return localConfig(LONGEST_TICK);
    }

    /**
     * The same, with a pace.
     *
     * @param pace the shortest time that is to be kept to, 10 ms or more: it is a whole number of ticks, give or take
     *     one millisecond for each
     */
    public static Config localConfig(Duration pace) {
        long millis = pace.toMillis();
        long ticks = Math.max(1, (millis + LONGEST_TICK.toMillis() - 1) / LONGEST_TICK.toMillis());
        return ConfigFactory.parseMap(
                        Map.of("pekko.scheduler.tick-duration", Duration.ofMillis(millis / ticks)), "pace of a worker")
                .withFallback(resource("quiet-system.conf"))
                .withFallback(resource("base-system.conf"));
    }

    /** Whether this node is the one of several seed nodes that begins a cluster when none of the others answers. */
    public static boolean isFirstSeed(ClusterSettings cluster) {
        return cluster.seedNodes().size() > 1
                && cluster.port() != 0
                && cluster.seedNodes().get(0).equals(new NodeAddress(cluster.host(), cluster.port()));
    }

    /**
     * Whether nothing tells this node where the cluster is: no seed nodes, and a port that is only known once it is
     * bound. Such a node has to join itself by hand.
     */
    public static boolean mustJoinItself(ClusterSettings cluster) {
        return cluster.seedNodes().isEmpty() && cluster.port() == 0;
    }

    private static List<String> seedNodes(ClusterSettings cluster) {
        if (mustJoinItself(cluster)) {
            return List.of();
        }
        List<NodeAddress> addresses = cluster.seedNodes().isEmpty()
                ? List.of(new NodeAddress(cluster.host(), cluster.port()))
                : cluster.seedNodes();
        return addresses.stream()
                .map(address -> "pekko://" + SYSTEM_NAME + "@" + address)
                .toList();
    }

    private static Config resource(String name) {
        return ConfigFactory.parseResources(
                ClusterConfig.class, name, ConfigParseOptions.defaults().setAllowMissing(false));
    }
}
