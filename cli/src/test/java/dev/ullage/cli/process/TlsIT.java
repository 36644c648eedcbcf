package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An encrypted cluster of processes: who gets in, who does not and why, and what a coordinator that stands by answers.
 */
class TlsIT {
    private static final Duration JOIN_WITHIN = Duration.ofMinutes(1);
    private static final Duration MAKE_WITHIN = Duration.ofMinutes(2);
    private static final int READ_MILLIS = 20_000;

    @TempDir
    private Path folder;

    @Test
    void nodesWithCertificatesOfOneAuthorityFormAClusterAndNobodyElseGetsIn() throws Exception {
        certificates("tls", "c0,c1,w0");
        certificates("other", "w1");
        try (TestCluster cluster = new TestCluster(folder, "tls-tcp", 2, 2, this::settings);
                PlainRanks ranks = new PlainRanks()) {
            cluster.coordinators().forEach(TestCluster.Node::start);
            cluster.worker(0).start();
            cluster.coordinators().forEach(TestCluster.Node::awaitReady);
            cluster.worker(0).awaitReady();
            ranks.add(folder, cluster.worker(0).socket(), 0, 1, 0);
            Api first = cluster.coordinator(0).api();
            JsonNode status = first.await("a rank holds a confirmed limit", JOIN_WITHIN, now -> Api.areSettled(now, 1));
            Api.requireWithinBudget(status);

            assertStandbyAnswers(
                    cluster, status.path("coordinator").path("node").asText());
            assertAStrangerIsNotLetIn(cluster);
            assertWhoShowsNoCertificateIsCutOff(cluster.coordinator(0).clusterPort());
            ranks.stopAll();
        }
    }

    /** Each node but {@code w1} has files of the cluster's authority. */
    private String settings(String node) {
        Path own = folder.resolve(node.equals("w1") ? "other" : "tls");
        return """
               ullage.cluster.tls { certificate = "%s", key = "%s", ca = "%s" }
               """
                .formatted(own.resolve(node + ".crt"), own.resolve(node + ".key"), own.resolve("ca.crt"));
    }

    private void certificates(String name, String nodes) {
        List<String> command = List.of(
                Distribution.ullage(), "certs", "--out", folder.resolve(name).toString(), "--nodes", nodes);
        try (TestProcess process = TestProcess.start(folder, "certs-" + name, command, Map.of())) {
            assertThat(process.awaitExit(MAKE_WITHIN)).as(process.log()).isZero();
        }
    }

    private static void assertStandbyAnswers(TestCluster cluster, String acting) throws Exception {
        TestCluster.Node standby = cluster.coordinators().stream()
                .filter(node -> !node.name().equals(acting))
                .findFirst()
                .orElseThrow();
        HttpClient client = HttpClient.newHttpClient();
        JsonNode status = standby.api()
                .await("the one that stands by knows the rank", JOIN_WITHIN, now -> Api.areSettled(now, 1));
        assertThat(status.path("coordinator").path("node").asText()).isEqualTo(acting);

        HttpResponse<String> events = client.send(
                HttpRequest.newBuilder(URI.create(standby.api().base() + "/api/v1/events"))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(events.statusCode()).isEqualTo(200);
        assertThat(new ObjectMapper().readTree(events.body()).path("items")).isNotEmpty();

        HttpResponse<java.io.InputStream> stream = client.send(
                HttpRequest.newBuilder(URI.create(standby.api().base() + "/api/v1/stream"))
                        .build(),
                HttpResponse.BodyHandlers.ofInputStream());
        assertThat(stream.statusCode()).isEqualTo(200);
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(stream.body(), StandardCharsets.UTF_8))) {
            awaitData(lines, "\"full\":true", "plain-job");
        }
    }

    /** Reads until a message has all of these; the server ends a stream that is silent. */
    private static void awaitData(BufferedReader lines, String... parts) throws IOException {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith("data:") && List.of(parts).stream().allMatch(line::contains)) {
                return;
            }
        }
        throw new AssertionError("the stream ended without a message with " + List.of(parts));
    }

    private static void assertAStrangerIsNotLetIn(TestCluster cluster) {
        TestCluster.Node stranger = cluster.worker(1);
        stranger.start();
        stranger.process().awaitOutput("PKIX path", JOIN_WITHIN);
        stranger.process().awaitOutput("no coordinator answers yet", Duration.ofMinutes(2));

        JsonNode status = cluster.coordinator(0).api().status().orElseThrow();
        assertThat(status.path("nodes").findValuesAsText("node")).containsExactly("w0");
        assertThat(stranger.process().isAlive()).isTrue();
    }

    /** A peer that trusts the cluster's authority but shows nothing itself. */
    private void assertWhoShowsNoCertificateIsCutOff(int port) throws Exception {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        try (var in = Files.newInputStream(folder.resolve("tls/ca.crt"))) {
            trusted.setCertificateEntry(
                    "ca", CertificateFactory.getInstance("X.509").generateCertificate(in));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        try (SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", port)) {
            socket.setSoTimeout(READ_MILLIS);
            String end;
            try {
                socket.startHandshake();
                end = socket.getInputStream().read() < 0 ? "closed" : "it sent something";
            } catch (javax.net.ssl.SSLException e) {
                end = "closed: " + e.getMessage();
            }
            assertThat(end).startsWith("closed");
        }
    }
}
