package dev.ullage.coordinator.http;

import dev.ullage.common.model.NodeId;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.config.HttpSettings;
import dev.ullage.coordinator.metrics.MetricsPage;
import java.io.IOException;
import java.net.BindException;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.http.javadsl.ConnectionContext;
import org.apache.pekko.http.javadsl.Http;
import org.apache.pekko.http.javadsl.ServerBinding;
import org.apache.pekko.http.javadsl.ServerBuilder;
import org.apache.pekko.http.javadsl.settings.ServerSettings;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The HTTP server of a coordinator's node. Every such node answers, not only the active one: it asks the coordinator,
 * wherever that is. It never starts a process and never runs anything out of a request.
 */
public final class HttpApi {
    private static final Logger LOG = LoggerFactory.getLogger(HttpApi.class);
    private static final int MAX_CONNECTIONS = 128;
    private static final Duration IDLE_TIMEOUT = Duration.ofSeconds(30);
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(10);

    /** How long a connection may take to end when the node stops; then it is cut off. */
    private static final Duration END_WITHIN = Duration.ofSeconds(2);

    private HttpApi() {}

    /**
     * Starts answering.
     *
     * @param coordinator reaches the active coordinator from every node
     * @param metrics counts over the node's life: it outlives this server when the node joins the cluster anew
     * @return the binding; fails with {@link BindException} when the port is taken, and with
     *     {@link IllegalArgumentException} for an address that other machines reach without TLS and a credential, or
     *     when a file for either will not do
     */
    public static CompletionStage<ServerBinding> start(
            ActorSystem<?> system,
            HttpSettings settings,
            ActorRef<ToCoordinator> coordinator,
            NodeId self,
            OperatorToken token,
            MetricsPage metrics) {
        Optional<String> problem = settings.access().problemAt(settings.host());
        if (problem.isPresent()) {
            return CompletableFuture.failedStage(
                    new IllegalArgumentException("ullage.http.host = " + settings.host() + " " + problem.get()));
        }
        Clock clock = Clock.systemUTC();
        ApiSecurity security;
        try {
            security = ApiSecurity.load(settings, token, clock.instant());
        } catch (IOException e) {
            return CompletableFuture.failedStage(new IllegalArgumentException(e.getMessage(), e));
        }
        ApiRoutes routes = new ApiRoutes(system, coordinator, self, security, metrics, settings, clock);
        ServerBuilder server =
                Http.get(system).newServerAt(settings.host(), settings.port()).adaptSettings(HttpApi::bounded);
        return security.tls()
                .map(context -> server.enableHttps(ConnectionContext.httpsServer(context)))
                .orElse(server)
                .bind(routes.create())
                .thenApply(binding -> binding.addToCoordinatedShutdown(END_WITHIN, system))
                .whenComplete((binding, failure) -> {
                    if (failure == null) {
                        LOG.info("{} started node={} address={}", security.scheme(), self, binding.localAddress());
                    }
                })
                .exceptionallyCompose(failure -> CompletableFuture.failedStage(explained(failure, settings)));
    }

    private static ServerSettings bounded(ServerSettings settings) {
        return settings.withServerHeader(Optional.empty())
                .withMaxConnections(MAX_CONNECTIONS)
                .withTimeouts(settings.getTimeouts()
                        .withIdleTimeout(scala.concurrent.duration.Duration.fromNanos(IDLE_TIMEOUT.toNanos()))
                        .withRequestTimeout(scala.concurrent.duration.Duration.fromNanos(REQUEST_TIMEOUT.toNanos())));
    }

    private static Throwable explained(Throwable failure, HttpSettings settings) {
        Throwable cause = failure;
        while (cause.getCause() != null && !(cause instanceof BindException)) {
            cause = cause.getCause();
        }
        if (cause instanceof BindException) {
            BindException explained = new BindException("cannot listen on " + settings.host() + ":" + settings.port()
                    + " (ullage.http): " + cause.getMessage());
            explained.initCause(failure);
            return explained;
        }
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }
}
