package dev.ullage.worker.ranks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.JobId;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** A missing local rank is worked out per host: never the same one twice, and not 0 for everyone. */
class LocalRanksTest {
    private final FakeProcessTable processes = new FakeProcessTable();
    private final LocalRanks localRanks = new LocalRanks(processes);

    private RankInstance process(String job, int rank) {
        long pid = 100L + rank + (job.equals("other") ? 50 : 0);
        processes.run(pid, 7);
        return new RankInstance(new RankId(new JobId(job), rank), pid, 7);
    }

    private OptionalInt number(RankInstance instance) {
        return localRanks.of(instance, OptionalInt.empty(), false);
    }

    @Test
    void ranksAreNumberedAsTheyComeEachJobForItself() {
        assertThat(number(process("job", 9))).hasValue(0);
        assertThat(number(process("job", 8))).hasValue(1);
        assertThat(number(process("other", 3))).hasValue(0);
        assertThat(number(process("job", 11))).hasValue(2);
    }

    @Test
    void aRankThatComesAgainHasItsNumberStill() {
        RankInstance first = process("job", 9);
        number(first);
        number(process("job", 8));

        assertThat(number(first)).hasValue(0);
        assertThat(localRanks.of(first, OptionalInt.empty(), true)).hasValue(0);
    }

    @Test
    void theNumberOfAProcessThatEndedIsFree() {
        RankInstance first = process("job", 9);
        number(first);
        number(process("job", 8));
        processes.end(first.pid());

        assertThat(number(process("job", 12))).hasValue(0);
    }

    @Test
    void aLauncherThatSaysItIsBelievedAndItsNumberTaken() {
        assertThat(localRanks.of(process("job", 4), OptionalInt.of(0), false)).hasValue(0);

        assertThat(number(process("job", 5))).hasValue(1);
    }

    @Test
    void aRankThatSaysItsDeviceNeedsNoNumber() {
        assertThat(localRanks.of(process("job", 4), OptionalInt.empty(), true)).isEmpty();
        assertThat(number(process("job", 5))).hasValue(0);
    }

    @Test
    void whoCannotBeLookedAtKeepsItsNumber() {
        number(process("job", 9));
        RankInstance second = process("job", 8);
        processes.becomeUnreadable();

        assertThat(number(second)).hasValue(1);
    }

    // One process that claims to be ever more ranks must not fill the worker's memory.
    @Test
    void moreThanAnyHostRunsAreNotNumbered() {
        processes.run(100, 7);
        for (int rank = 0; rank < 4096; rank++) {
            assertThat(number(new RankInstance(new RankId(new JobId("job"), rank), 100, 7)))
                    .hasValue(rank);
        }

        assertThat(number(new RankInstance(new RankId(new JobId("job"), 9999), 100, 7)))
                .isEmpty();
    }
}
