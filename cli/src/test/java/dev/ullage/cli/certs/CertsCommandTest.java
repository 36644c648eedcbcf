package dev.ullage.cli.certs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ullage.cli.CliEnvironment;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.show.Terminal;
import dev.ullage.config.ClusterTls;
import dev.ullage.config.PemFiles;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Real certificates of the JDK's keytool, and what a node says of files that will not do. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CertsCommandTest {
    private final Path folder;
    private final Path made;
    private final Outcome first;

    private record Outcome(int code, String out, String err) {}

    CertsCommandTest(@TempDir Path folder) {
        this.folder = folder;
        this.made = folder.resolve("made");
        this.first = run("--out", made.toString(), "--nodes", "10.0.0.1,gpu-2=10.0.0.2", "--days", "30", "--json");
    }

    private static Outcome run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine command = new CommandLine(new CertsCommand(
                new CliEnvironment(Map.of(), new PrintWriter(out), new PrintWriter(err), Terminal.NONE)));
        command.setErr(new PrintWriter(err));
        command.setExecutionExceptionHandler((failure, line, parsed) -> {
            err.write(String.valueOf(failure.getMessage()));
            return failure instanceof CommandFailure known ? known.exitCode().code() : 70;
        });
        int code = command.execute(arguments);
        return new Outcome(code, out.toString(), err.toString());
    }

    private X509Certificate certificate(String file) throws IOException {
        return PemFiles.certificates("test", made.resolve(file)).get(0);
    }

    /** Those of a certificate, sorted. */
    private static List<String> names(X509Certificate certificate) throws Exception {
        List<String> names = new ArrayList<>();
        certificate
                .getSubjectAlternativeNames()
                .forEach(name -> names.add(name.get(1).toString()));
        names.sort(null);
        return names;
    }

    private static Instant soon() {
        return Clock.systemUTC().instant().plus(Duration.ofMinutes(1));
    }

    private ClusterTls files(String certificate, String key, String ca) {
        return new ClusterTls(folder.resolve(certificate), folder.resolve(key), folder.resolve(ca));
    }

    @Test
    void eachFileIsForItsUserOnlyAndNamedInTheAnswer() throws IOException {
        assertThat(first.code()).as(first.err()).isZero();
        JsonNode answer = new JsonMapper().readTree(first.out());
        List<String> named = new ArrayList<>();
        answer.path("files").forEach(file -> named.add(file.asText()));

        try (Stream<Path> files = Files.list(made)) {
            List<Path> all = files.toList();
            assertThat(all).hasSize(6).map(Path::toString).containsExactlyInAnyOrderElementsOf(named);
            for (Path file : all) {
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                        .as(file.toString())
                        .isEqualTo("rw-------");
            }
        }
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(made)))
                .isEqualTo("rwx------");
    }

    @Test
    void aCertificateIsMadeOutToTheNodeItsAddressAndTheClusterForTheDaysAskedFor() throws Exception {
        X509Certificate node = certificate("gpu-2.crt");

        assertThat(names(node)).containsExactly("10.0.0.2", "127.0.0.1", "gpu-2", "localhost", "ullage");
        assertThat(names(certificate("10.0.0.1.crt"))).containsExactly("10.0.0.1", "127.0.0.1", "localhost", "ullage");
        assertThat(Duration.between(
                        node.getNotBefore().toInstant(), node.getNotAfter().toInstant()))
                .isEqualTo(Duration.ofDays(30));
        assertThat(node.getBasicConstraints()).as("it can issue none itself").isEqualTo(-1);
        assertThat(certificate("ca.crt").getBasicConstraints()).isZero();
        assertThatCode(() -> node.verify(certificate("ca.crt").getPublicKey())).doesNotThrowAnyException();
    }

    @Test
    void whatIsThereIsNotOverwrittenAndNothingElseIsMade() throws IOException {
        byte[] before = Files.readAllBytes(made.resolve("gpu-2.key"));

        Outcome again = run("--out", made.toString(), "--nodes", "gpu-3,gpu-2");

        assertThat(again.code()).isEqualTo(6);
        assertThat(again.err()).contains("has gpu-2.crt, gpu-2.key already", "nothing is overwritten");
        assertThat(made.resolve("gpu-3.key")).doesNotExist();
        assertThat(Files.readAllBytes(made.resolve("gpu-2.key"))).isEqualTo(before);
    }

    @Test
    void anAuthorityThatIsThereIssuesFurtherCertificates() throws IOException {
        Path own = folder.resolve("own");
        assertThat(run("--out", own.toString(), "--nodes", "a").code()).isZero();
        byte[] authority = Files.readAllBytes(own.resolve("ca.crt"));

        Outcome more = run("--out", own.toString(), "--nodes", "b");

        assertThat(more.code()).as(more.err()).isZero();
        assertThat(more.out()).contains("b.crt", "transport = tls-tcp").doesNotContain("ca.key");
        assertThat(Files.readAllBytes(own.resolve("ca.crt"))).isEqualTo(authority);
        assertThatCode(() -> files("own/b.crt", "own/b.key", "own/ca.crt").check(soon()))
                .doesNotThrowAnyException();
        Files.delete(own.resolve("ca.key"));
        assertThat(run("--out", own.toString(), "--nodes", "c").err()).contains("ca.crt is there but not ca.key");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a/b", "-dname", "a,,b", "ca", "a=b=c", "a=fe80::1"})
    void aNameThatIsNoFileNorHostIsRefused(String nodes) {
        assertThat(run("--out", folder.resolve("none").toString(), "--nodes=" + nodes)
                        .code())
                .isEqualTo(2);
        assertThat(folder.resolve("none")).doesNotExist();
    }

    @Test
    void aNameTwiceOrTooManyDaysAreRefused() {
        String out = folder.resolve("none").toString();

        assertThat(run("--out", out, "--nodes", "a,A").err()).contains("names A twice");
        assertThat(run("--out", out, "--nodes", "a", "--days", "3651").err()).contains("from 1 to 3650, not 3651");
    }

    @Test
    void filesOfOneAuthorityAreGoodForANode() {
        assertThatCode(() ->
                        files("made/gpu-2.crt", "made/gpu-2.key", "made/ca.crt").check(soon()))
                .doesNotThrowAnyException();
    }

    @Test
    void filesThatWillNotDoAreNamedWithTheirSetting() throws IOException {
        run("--out", folder.resolve("other").toString(), "--nodes", "x");
        Files.writeString(
                folder.resolve("broken.crt"), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
        Files.copy(made.resolve("gpu-2.key"), folder.resolve("open.key"));
        Files.setPosixFilePermissions(folder.resolve("open.key"), PosixFilePermissions.fromString("rw-r--r--"));

        assertRefused("made/none.crt", "made/gpu-2.key", "made/ca.crt", "tls.certificate = ", "does not exist");
        assertRefused("broken.crt", "made/gpu-2.key", "made/ca.crt", "broken.crt holds no certificate");
        assertRefused("made/gpu-2.crt", "open.key", "made/ca.crt", "open.key is open to others (rw-r--r--)");
        assertRefused("made/gpu-2.crt", "made/gpu-2.crt", "made/ca.crt", "holds no private key in PKCS#8");
        assertRefused("made/gpu-2.crt", "made/10.0.0.1.key", "made/ca.crt", "10.0.0.1.key is not the key of");
        assertRefused("made/gpu-2.crt", "made/gpu-2.key", "other/ca.crt", "was not issued by the authority of");
        assertThatThrownBy(() -> files("made/gpu-2.crt", "made/gpu-2.key", "made/ca.crt")
                        .check(soon().plus(Duration.ofDays(31))))
                .hasMessageContaining("ullage.cluster.tls.certificate is in force from")
                .hasMessageContaining("make a new one");
    }

    private void assertRefused(String certificate, String key, String ca, String... parts) {
        assertThatThrownBy(() -> files(certificate, key, ca).check(soon()))
                .isInstanceOf(IOException.class)
                .hasMessageContainingAll(parts)
                .hasMessageStartingWith("ullage.cluster.tls.");
    }
}
