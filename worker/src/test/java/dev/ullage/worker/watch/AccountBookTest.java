package dev.ullage.worker.watch;

import static dev.ullage.common.testing.Fixtures.rank;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.RankAccount;
import dev.ullage.common.model.RankInstance;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Which accounts a worker keeps, and that each is told in its turn. */
class AccountBookTest {
    private static final Instant T0 = Instant.EPOCH;

    private final AccountBook book = new AccountBook();

    private static RankAccount account(RankInstance instance) {
        return new LifeAccount(T0)
                .account(new RankAccount.Whose(instance, new DeviceId("GPU-a"), OptionalInt.empty()), T0);
    }

    private static List<RankInstance> instances(List<RankAccount> accounts) {
        return accounts.stream().map(RankAccount::instance).toList();
    }

    @Test
    void whatALivingProcessCameToIsToldWithItsAgeNow() {
        book.heard(account(rank(0)), T0);

        assertThat(book.next(T0.plusSeconds(3)))
                .containsExactly(account(rank(0)).later(3_000));
    }

    @Test
    void oneThatEndedStaysAndIsToldAtOnce() {
        book.heard(account(rank(0)), T0);
        book.heard(account(rank(1)), T0);

        assertThat(book.left(rank(1), T0.plusSeconds(5)))
                .contains(account(rank(1)).later(5_000).ended());
        assertThat(book.left(rank(7), T0)).isEmpty();
        assertThat(book.next(T0.plusSeconds(6)))
                .extracting(RankAccount::endedAgoMillis)
                .containsExactly(OptionalLong.empty(), OptionalLong.of(1_000));
    }

    @Test
    void lastWordsThatComeAfterTheEndCount() {
        book.heard(account(rank(0)), T0);
        book.left(rank(0), T0.plusSeconds(1));
        book.heard(account(rank(0)).later(77_000), T0.plusSeconds(2));

        List<RankAccount> told = book.next(T0.plusSeconds(2));
        assertThat(told).hasSize(1);
        assertThat(told.get(0).beganAgoMillis()).isEqualTo(77_000);
        assertThat(told.get(0).endedAgoMillis()).hasValue(0);
    }

    @Test
    void eachHasItsTurnAndNoMessageGrowsWithTheirNumber() {
        for (int i = 0; i < 40; i++) {
            book.heard(account(rank(i)), T0);
        }
        for (int i = 40; i < 60; i++) {
            book.heard(account(rank(i)), T0);
            book.left(rank(i), T0);
        }
        TreeSet<RankInstance> told = new TreeSet<>();
        for (int round = 0; round < 6; round++) {
            List<RankAccount> next = book.next(T0);
            assertThat(next).hasSizeLessThanOrEqualTo(AccountBook.LIVING_AT_A_TIME + AccountBook.ENDED_AT_A_TIME);
            told.addAll(instances(next));
        }

        assertThat(told).hasSize(60);
    }

    @Test
    void onlyTheLastThatEndedAreKept() {
        List<RankAccount> earlier = new ArrayList<>();
        for (int i = 0; i < AccountBook.KEPT + 10; i++) {
            earlier.add(account(rank(i)).ended());
        }
        book.remember(earlier, T0);
        TreeSet<RankInstance> told = new TreeSet<>();
        for (int round = 0; round < AccountBook.KEPT; round++) {
            told.addAll(instances(book.next(T0)));
        }

        assertThat(told)
                .hasSize(AccountBook.KEPT)
                .doesNotContain(rank(0))
                .contains(rank(10), rank(AccountBook.KEPT + 9));
    }
}
