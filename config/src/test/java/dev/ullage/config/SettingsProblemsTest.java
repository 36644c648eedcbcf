package dev.ullage.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a user reads when the settings are wrong: setting, value, rule, where it was set. */
class SettingsProblemsTest {
    private static final Map<String, String> HOME = Map.of("HOME", "/home/operator");

    private final Path folder;

    SettingsProblemsTest(@TempDir Path folder) {
        this.folder = folder;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
            cluster.port          | 99999       | must be a whole number from 0 to 65535
            cluster.port          | -1          | must be a whole number from 0 to 65535
            cluster.port          | many        | must be a whole number from 0 to 65535
            http.port             | 70000       | must be a whole number from 0 to 65535
            worker.max-ranks      | 0           | must be a whole number from 1 to 100000
            worker.enforcement.driver | on      | must be one of: auto, off
            cluster.transport     | carrier     | must be one of: tcp, tls-tcp, aeron-udp
            cluster.majority-of   | two         | must be one of: all, coordinators
            cluster.host          | `"0.0.0.0"` | must be an address at which the other nodes reach this one
            cluster.host          | `"a b"`     | must be a host name or an IP address, without a port
            cluster.seed-nodes    | `["a"]`     | must be host:port, for example 10.0.0.7:25520 or [fd00::7]:25520
            cluster.seed-nodes    | `["a:0"]`   | must name a port from 1 to 65535
            cluster.seed-nodes    | `[["a:1"]]` | must be one value
            http.port             | [1]         | must be one value
            worker.tick           | 5           | must be a duration from 10ms to 1m with a unit: 250ms, 5s, 2m, 1h
            worker.tick           | -5s         | must be a duration from 10ms to 1m with a unit: 250ms, 5s, 2m, 1h
            worker.tick           | 1h          | must be a duration from 10ms to 1m
            coordinator.tick      | 0ms         | must be a duration from 10ms to 1m
            coordinator.stall-after | 100h      | must be a duration from 10ms to 24h
            coordinator.forget-after | 1s       | must not be shorter than ullage.coordinator.stale-after (5s)
            coordinator.decision-log.max-bytes | 63KiB | must be 64 KiB to 1 GiB
            coordinator.decision-log.files | 0  | must be a whole number from 1 to 100
            coordinator.decision-log.enabled | maybe | must be on or off
            cluster.failover.acceptable-heartbeat-pause | 100ms | must be longer than ullage.cluster.failover.heartbeat-interval (500ms)
            limits.reserve        | 120%        | must be a share from 0% to 100%: share '120%' is more than 100%
            limits.reserve        | 1.2         | must be a share from 0% to 100%: share '1.2' is more than 100%
            limits.reserve        | -5%         | must be a share from 0% to 100%: share '-5%' is not a number of zero
            limits.reserve        | NaN         | must be a share from 0% to 100%: share 'NaN' is not a number
            limits.phases.idle    | 101%        | must be a share from 0% to 100%: share '101%' is more than 100%
            limits.minimum        | 64QiB       | must be an amount of memory: size '64QiB' has the unknown unit
            limits.minimum        | -1          | must be an amount of memory: size '-1' is not a number
            limits.policy         | fair        | must be one of: rank-share, world-share, fixed, growth, priority-pool, hybrid, observed, planned
            limits.policies.fixed.limit | 120%  | must be an amount of memory or a share of the device: share '120%' is more
            limits.policies.fixed.limit | lots  | must be an amount of memory or a share of the device: size 'lots' is not
            limits.policies.priority-pool.high | 0 | must be a weight from 0.0001 to 100: weight '0' is not 0.0001 to 100
            limits.policies.priority-pool.high | 1.00001 | must be a weight from 0.0001 to 100: weight '1.00001' is finer
            limits.policies.priority-pool.priority | urgent | must be one of: high, medium, low
            limits.policies.priority-pool.model-size | 2048TiB | must be at most 1024 TiB
            limits.policies.hybrid.until-step | 0 | must be a whole number from 1 to
            limits.policies.hybrid.steps-per-epoch | 9 | must be set only when ullage.limits.policies.hybrid.epochs is
            limits.jobs.night.policy | fair     | must be one of: rank-share
            limits.jobs.night.prio   | high     | is not a setting
            http.dcgm-aliases     | yes         | must be on or off
            node.name             | `"  "`      | a node's name must not be blank
            """)
    void aBrokenValueIsReportedWithItsRuleAndItsLine(String key, String value, String rule) throws IOException {
        SettingsException exception = problemsOf("\n\nullage." + key + " = " + value);

        assertThat(exception.problems()).singleElement().satisfies(problem -> {
            assertThat(problem.key()).isEqualTo("ullage." + key);
            assertThat(problem.rule()).startsWith(rule);
            assertThat(problem.origin()).isEqualTo(folder.resolve("ullage.conf") + ": 3");
        });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
            coordinator.evenness.mode  | auto   | must be one of: off, suggest, on
            coordinator.evenness.looks | 0      | must be a whole number from 1 to 1000
            coordinator.evenness.every | 5      | must be a duration from 10ms to 24h
            coordinator.evenness.gain-from | 200% | must be a share from 0% to 100%
            coordinator.evenness.max-orders | 0 | must be a whole number from 1 to 1000
            """)
    void aBrokenValueOfEvennessToo(String key, String value, String rule) throws IOException {
        aBrokenValueIsReportedWithItsRuleAndItsLine(key, value, rule);
    }

    @Test
    void aPriorityPoolNeedsAModelSize() throws IOException {
        assertThat(problemsOf("ullage.limits { policy = priority-pool, jobs.night.policy = priority-pool }"))
                .hasMessageContaining("ullage.limits.policies.priority-pool.model-size = \"\" must be set for the"
                        + " policy priority-pool, as in 4096MiB")
                .hasMessageContaining("ullage.limits.jobs.night = {\"policy\":\"priority-pool\"} needs a model-size for"
                        + " the policy priority-pool, its own or");
    }

    @Test
    void aValueInPlaceOfAJobsTermsIsReportedOnce() throws IOException {
        assertThat(problemsOf("ullage.limits.jobs.night = fixed").problems())
                .extracting(SettingsProblem::rule)
                .containsExactly("must be a section, as in ullage.limits.jobs.night { ... }");
    }

    @Test
    void theMessageIsOneLinePerProblemAndAllOfThem() throws IOException {
        SettingsException exception = problemsOf("ullage.http.port = -1\nullage.limits.reserve = 200%\n");

        Path file = folder.resolve("ullage.conf");
        assertThat(exception)
                .hasMessageStartingWith("2 problems in the settings:\n  ullage.http.port = -1 must be a whole number"
                        + " from 0 to 65535 (" + file + ": 1)\n  ullage.limits.reserve = 200% must be a share")
                .hasMessageEndingWith("(" + file + ": 2)");
    }

    @Test
    void anAddressThatOthersReachIsRefusedForHttpWithoutTlsAndACredential() throws IOException {
        assertThat(problemsOf("ullage.http.host = \"0.0.0.0\""))
                .hasMessageContaining("ullage.http.host = 0.0.0.0 must be a loopback address such as 127.0.0.1, because"
                        + " there is not TLS (ullage.http.tls.certificate and ullage.http.tls.key) nor a credential"
                        + " (ullage.http.read-token-file): on any other address the API answers only with both");
        assertThat(problemsOf("ullage.http { host = host-a, tls { certificate = /a.crt, key = /a.key } }"))
                .hasMessageContaining("ullage.http.host = host-a must be")
                .hasMessageContaining("there is not a credential (ullage.http.read-token-file): on");
        assertThat(problemsOf("ullage.http { host = 10.0.0.7, read-token-file = /read.token }"))
                .hasMessageContaining("there is not TLS (ullage.http.tls.certificate and ullage.http.tls.key): on");
    }

    @Test
    void aCertificateWithoutItsKeyIsRefused() throws IOException {
        assertThat(problemsOf("ullage.http.tls.certificate = /a.crt"))
                .hasMessageContaining("ullage.http.tls.key = \"\" must be set: a certificate is of no use without");
    }

    @Test
    void encryptionWithoutItsFilesIsRefusedAndEachIsNamed() throws IOException {
        assertThat(problemsOf("ullage.cluster { transport = tls-tcp, tls.key = /tls/n.key }"))
                .hasMessageContaining("ullage.cluster.tls.certificate = \"\" must be set with")
                .hasMessageContaining("ullage.cluster.tls.ca = \"\" must be set with")
                .hasMessageNotContaining("tls.key");
    }

    @Test
    void filesThatNothingWouldUseAreRefusedBecauseTheyLookLikeProtection() throws IOException {
        assertThat(problemsOf("ullage.cluster.tls.ca = /tls/ca.crt"))
                .hasMessageContaining("ullage.cluster.tls.ca = /tls/ca.crt has no use with"
                        + " ullage.cluster.transport = tcp: nothing is encrypted; it must be tls-tcp");
    }

    @ParameterizedTest
    @CsvSource({
        "ullage.http.prot, ullage.http.port",
        "ullage.reserve, ullage.limits.reserve",
        "ullage.cluster.seednodes, ullage.cluster.seed-nodes",
        "ulage.http.port, ullage"
    })
    void anUnknownKeyIsReportedWithTheNearestOneKnown(String key, String suggestion) throws IOException {
        assertThat(problemsOf(key + " = 1")).hasMessageContaining("is not a setting; did you mean " + suggestion + "?");
    }

    @Test
    void nothingIsSuggestedForAKeyThatIsLikeNoOther() throws IOException {
        assertThat(problemsOf("ullage.http.gibberish = 1").problems())
                .containsExactly(new SettingsProblem(
                        "ullage.http.gibberish", "1", "is not a setting", folder.resolve("ullage.conf") + ": 1"));
    }

    @Test
    void aValueInPlaceOfASectionIsReportedOnce() throws IOException {
        assertThat(problemsOf("ullage.http = 7788").problems())
                .extracting(SettingsProblem::rule)
                .containsExactly("must be a section, as in ullage.http { ... }");
    }

    @Test
    void aSectionInPlaceOfAValueIsReportedOnce() throws IOException {
        assertThat(problemsOf("ullage.http.port { number = 7788 }").problems())
                .extracting(SettingsProblem::rule)
                .containsExactly("must be a value, not a section");
    }

    @Test
    void nullIsReportedAndNotTakenForTheDefault() throws IOException {
        assertThat(problemsOf("ullage.http.port = null").problems())
                .extracting(SettingsProblem::rule)
                .containsExactly("must not be null; leave it out for its default");
    }

    @Test
    void aFileThatDoesNotExistIsReported() {
        Path missing = folder.resolve("missing.conf");

        assertThat(problemsOf(missing).problems())
                .containsExactly(new SettingsProblem("", "", "does not exist", missing.toString()));
    }

    @Test
    void aFolderInPlaceOfAFileIsReported() {
        assertThat(problemsOf(folder).problems())
                .containsExactly(new SettingsProblem("", "", "is not a file that can be read", folder.toString()));
    }

    @Test
    void aFileThatIsNoHoconIsReportedWithItsLine() throws IOException {
        assertThat(problemsOf("ullage {\n  http { port = 1 \n")).satisfies(exception -> {
            assertThat(exception.problems()).hasSize(1);
            assertThat(exception.problems().get(0).rule()).startsWith("cannot be read: ");
            assertThat(exception.problems().get(0).origin()).matches(".*ullage\\.conf: [23]");
        });
    }

    @Test
    void aVariableThatIsNotSetIsReportedWithItsName() throws IOException {
        assertThat(problemsOf("ullage.cluster.host = ${ULLAGE_HOST}").problems())
                .singleElement()
                .satisfies(problem -> assertThat(problem.rule()).contains("ULLAGE_HOST"));
    }

    @Test
    void aBrokenFlagIsReportedAsTheUserTypedIt() {
        SettingsException exception = catchThrowableOfType(
                SettingsException.class,
                () -> SettingsLoader.load(
                        Optional.empty(), List.of(new SettingsFlag("--port", "ullage.cluster.port", "x")), HOME));

        assertThat(exception)
                .hasMessageContaining(
                        "ullage.cluster.port = x must be a whole number from 0 to 65535 (command line --port)");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a..b", "ullage.http.prot", "x"})
    void aFlagForNoSettingIsReported(String key) {
        SettingsException exception = catchThrowableOfType(
                SettingsException.class,
                () -> SettingsLoader.load(Optional.empty(), List.of(new SettingsFlag("--set", key, "1")), HOME));

        assertThat(exception.problems()).singleElement().satisfies(problem -> {
            assertThat(problem.key()).isEqualTo(key);
            assertThat(problem.rule()).startsWith("is not a setting");
            assertThat(problem.origin()).isEqualTo("command line --set");
        });
    }

    @Test
    void withoutAHomeTheStateFolderMustBeSet() {
        SettingsException exception = catchThrowableOfType(
                SettingsException.class, () -> SettingsLoader.load(Optional.empty(), List.of(), Map.of()));

        assertThat(exception)
                .hasMessageContaining("ullage.node.state-dir = \"\" must be set: neither XDG_STATE_HOME nor HOME");
    }

    private SettingsException problemsOf(String text) throws IOException {
        return problemsOf(Files.writeString(folder.resolve("ullage.conf"), text));
    }

    private static SettingsException problemsOf(Path file) {
        return catchThrowableOfType(
                SettingsException.class, () -> SettingsLoader.load(Optional.of(file), List.of(), HOME));
    }
}
