package dev.ullage.config;

import java.util.List;
import java.util.Optional;

/**
 * How a node takes part in the cluster.
 *
 * @param transport the same on all nodes
 * @param host the address other nodes reach this one at
 * @param port 0: any free port
 * @param seedNodes where to join; empty: this node starts a cluster
 * @param majorityOf who is counted when the network splits; the same on all nodes
 * @param failover the same on all nodes
 * @param tls there exactly when {@code transport} is {@link Transport#TLS_TCP}
 */
public record ClusterSettings(
        Transport transport,
        String host,
        int port,
        List<NodeAddress> seedNodes,
        MajorityOf majorityOf,
        FailoverSettings failover,
        Optional<ClusterTls> tls) {

    public ClusterSettings {
        seedNodes = List.copyOf(seedNodes);
        if (tls.isPresent() != (transport == Transport.TLS_TCP)) {
            throw new IllegalArgumentException("certificates are there with tls-tcp, and only then: " + transport);
        }
    }
}
