package dev.ullage.common.ledger;

import static dev.ullage.common.testing.DeviceBuilder.aDevice;
import static dev.ullage.common.testing.Fixtures.token;
import static dev.ullage.common.testing.Reservations.id;
import static dev.ullage.common.testing.Reservations.rankOf;
import static dev.ullage.common.testing.Reservations.reservation;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ullage.common.ledger.LedgerCommand.DesiredLimit;
import dev.ullage.common.ledger.LedgerEvent.LimitOrdered;
import dev.ullage.common.ledger.LedgerEvent.RankJoined;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.Share;
import dev.ullage.common.testing.LedgerOwner;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Many events at once come to what they come to one by one, and running sums to what is added up anew. */
class LedgerBatchPropertyTest {
    private static final int COMMANDS = 150;
    private static final List<String> JOBS = List.of("a", "b", "c");

    // Goal: how events are cut into batches makes no difference. Method: random commands of every kind on a device of
    // 100 bytes; the events of all of them are applied one by one and in batches of random lengths, and wherever a
    // batch
    // ends, both are compared, and each with a ledger that was opened from the snapshot and has added everything up.
    @Property(tries = 300)
    void batchesComeToWhatTheirEventsComeToOneByOne(@ForAll long seed) {
        Random random = new Random(seed);
        LedgerOwner owner = LedgerOwner.of(aDevice().withCapacity(MemoryBytes.of(100)));
        DeviceLedger start = owner.ledger();
        List<LedgerEvent> events = new ArrayList<>();
        for (int i = 0; i < COMMANDS; i++) {
            events.addAll(owner.on(command(random, owner.ledger())).events());
        }
        DeviceLedger oneByOne = start;
        DeviceLedger inBatches = start;
        for (int from = 0; from < events.size(); ) {
            int to = Math.min(events.size(), from + 1 + random.nextInt(20));
            DeviceLedger before = inBatches;
            LedgerEvent.Snapshot untouched = before.snapshot();
            for (LedgerEvent event : events.subList(from, to)) {
                oneByOne = oneByOne.apply(event);
            }
            inBatches = inBatches.apply(events.subList(from, to));

            requireSame(inBatches, oneByOne);
            requireSame(inBatches, DeviceLedger.open(inBatches.snapshot()));
            assertThat(before.snapshot()).as("what the batch began with").isEqualTo(untouched);
            from = to;
        }
        requireSame(inBatches, owner.ledger());
    }

    private static void requireSame(DeviceLedger one, DeviceLedger other) {
        assertThat(one.snapshot()).isEqualTo(other.snapshot());
        assertThat(one.ceilings()).isEqualTo(other.ceilings());
        assertThat(one.promised()).isEqualTo(other.promised());
        assertThat(one.free()).isEqualTo(other.free());
        for (String job : JOBS) {
            assertThat(one.outstanding(new JobId(job))).isEqualTo(other.outstanding(new JobId(job)));
            assertThat(one.room(new JobId(job))).isEqualTo(other.room(new JobId(job)));
        }
    }

    private static LedgerCommand command(Random random, DeviceLedger ledger) {
        String job = JOBS.get(random.nextInt(JOBS.size()));
        RankInstance rank = rankOf(job, random.nextInt(3));
        MemoryBytes amount = MemoryBytes.of(1 + random.nextInt(60));
        long number = 1L + random.nextInt(3);
        ReservationId id = id(job, number);
        return switch (random.nextInt(12)) {
            case 0, 1 ->
                new LedgerCommand.Join(rank, random.nextInt(5), random.nextInt(8) == 0 ? amount : MemoryBytes.ZERO);
            case 2, 3, 4 -> desire(random, ledger);
            case 5, 6 ->
                new LedgerCommand.Confirm(
                        rank,
                        ledger.grant(rank).map(Grant::sequence).orElse(1L),
                        ledger.grant(rank).map(Grant::targetMax).orElse(amount));
            case 7 -> new LedgerCommand.Leave(rank);
            case 8 ->
                new LedgerCommand.Measure(MemoryBytes.of(80 + random.nextInt(40)), MemoryBytes.of(random.nextInt(30)));
            case 9 -> new LedgerCommand.Reserve(token(2), reservation(job, number, amount));
            case 10 -> new LedgerCommand.CommitReservation(token(2), id);
            default ->
                random.nextBoolean()
                        ? new LedgerCommand.ReleaseReservation(token(2), id)
                        : new LedgerCommand.ExpireReservation(id);
        };
    }

    private static LedgerCommand desire(Random random, DeviceLedger ledger) {
        List<DesiredLimit> limits = ledger.grants().stream()
                .map(grant -> new DesiredLimit(
                        grant.instance(), PhaseLimits.uniform(MemoryBytes.of(random.nextInt(40))), Share.ALL))
                .toList();
        return new LedgerCommand.Desire(token(2), Share.ofPercent(10 * random.nextInt(4)), limits);
    }

    @Example
    void aBatchIsRefusedAtTheEventThatWouldBeRefusedByItself() {
        LedgerOwner owner = LedgerOwner.of(aDevice().withCapacity(MemoryBytes.of(100)));
        DeviceLedger ledger = owner.ledger();
        RankInstance rank = rankOf("a", 0);
        LedgerEvent tooMuch = new LimitOrdered(rank, 1, PhaseLimits.uniform(MemoryBytes.of(101)), Share.ALL);

        assertThatThrownBy(() -> ledger.apply(List.of(new RankJoined(rank), tooMuch)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("would exceed its budget: promised 101 B");
        assertThat(ledger.grants()).isEmpty();
    }
}
