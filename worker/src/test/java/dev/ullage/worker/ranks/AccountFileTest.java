package dev.ullage.worker.ranks;

import static dev.ullage.common.testing.Fixtures.rank;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankAccount;
import dev.ullage.common.model.RankAccount.Latency;
import dev.ullage.common.model.RankAccount.LossPoint;
import dev.ullage.common.model.RankAccount.Losses;
import dev.ullage.common.model.RankAccount.Memory;
import dev.ullage.common.model.RankAccount.PhaseMemory;
import dev.ullage.common.model.RankAccount.PhaseTime;
import dev.ullage.common.model.RankAccount.PhaseTimes;
import dev.ullage.common.model.RankAccount.RoomOverTime;
import dev.ullage.common.model.RankAccount.Training;
import dev.ullage.common.model.RankAccount.Waits;
import dev.ullage.common.testing.TestClock;
import dev.ullage.worker.testing.LogWatch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What ranks had come to survives the worker; a file that is damaged costs only its damaged lines. */
class AccountFileTest {
    @RegisterExtension
    final LogWatch log = new LogWatch();

    private final TestClock clock = new TestClock();
    private final Path file;

    AccountFileTest(@TempDir Path folder) {
        file = folder.resolve("accounts.jsonl");
    }

    private static RankAccount account(int number) {
        return new RankAccount(
                rank(number),
                new DeviceId("GPU-a"),
                OptionalInt.of(8),
                90_000,
                OptionalLong.of(0),
                new Memory(
                        Optional.of(MemoryBytes.ofGibibytes(80)),
                        Optional.empty(),
                        List.of(new PhaseMemory(
                                Phase.FORWARD, Optional.of(MemoryBytes.ofGibibytes(1)), Optional.empty())),
                        Optional.of(new RoomOverTime(60_000, 3, 2, 1)),
                        Optional.empty(),
                        Optional.empty()),
                Optional.of(new Training(
                        80_000,
                        120,
                        OptionalLong.empty(),
                        OptionalLong.of(7),
                        new PhaseTimes(List.of(new PhaseTime(Phase.INIT, 9_000))),
                        new Waits(OptionalLong.of(10), OptionalLong.empty()),
                        new Latency(OptionalLong.empty(), OptionalLong.empty()),
                        new Losses(List.of(new LossPoint(10, -2)), 0))));
    }

    private List<RankAccount> reread() {
        try (AccountFile next = new AccountFile(file, clock)) {
            return next.load();
        }
    }

    @Test
    void whatEndedIsThereAfterARestartAndOlderByThen() {
        try (AccountFile first = new AccountFile(file, clock)) {
            assertThat(first.load()).isEmpty();
            first.add(account(0));
            first.add(account(1));
        }
        clock.advance(Duration.ofHours(1));

        assertThat(reread())
                .containsExactly(account(0).later(3_600_000), account(1).later(3_600_000));
    }

    @Test
    void onlyTheLastAreKeptAndTheFileDoesNotGrow() throws IOException {
        for (int run = 0; run < 3; run++) {
            try (AccountFile one = new AccountFile(file, clock)) {
                one.load();
                for (int i = 0; i < 300; i++) {
                    one.add(account(1_000 * run + i));
                }
            }
        }

        assertThat(reread()).hasSize(AccountFile.KEPT).last().isEqualTo(account(2_299));
        assertThat(Files.readAllLines(file)).hasSizeLessThanOrEqualTo(2 * AccountFile.KEPT);
        assertThat(log.warnings()).isEmpty();
    }

    @Test
    void aDamagedLineIsPassedOverWithAWarning() throws IOException {
        try (AccountFile first = new AccountFile(file, clock)) {
            first.add(account(0));
        }
        Files.writeString(file, "{\"savedAtMillis\":1,\"acc\n", UTF_8, StandardOpenOption.APPEND);
        try (AccountFile second = new AccountFile(file, clock)) {
            assertThat(second.load()).containsExactly(account(0));
            second.add(account(1));
        }

        assertThat(reread()).containsExactly(account(0), account(1));
        assertThat(log.warnings()).anySatisfy(line -> assertThat(line).contains("is passed over"));
    }

    @Test
    void aFolderThatIsGoneCostsTheReportsAndNothingElse() throws IOException {
        Path gone = file.resolveSibling("gone").resolve("accounts.jsonl");
        try (AccountFile lost = new AccountFile(gone, clock)) {
            assertThat(lost.load()).isEmpty();
            lost.add(account(0));
        }

        assertThat(log.warnings()).anySatisfy(line -> assertThat(line).contains("its account is not kept"));
    }
}
