package dev.ullage.coordinator.evenness;

import static dev.ullage.coordinator.Fixtures.NODE;
import static dev.ullage.coordinator.Fixtures.gib;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.Evenness.FarDevice;
import dev.ullage.common.protocol.Evenness.MoveSuggestion;
import dev.ullage.coordinator.evenness.TrainedJob.Member;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class MoveRuleTest {
    private static final Share UNEVEN = Share.ofPercent(25);
    private static final Share GAIN = Share.ofPercent(10);

    private record Guest(String job, int rank, long gibibytes) {}

    /** A fifth of it is reserve. */
    private static LoadedDevice device(String name, long capacity, Guest... guests) {
        NavigableMap<RankInstance, MemoryBytes> needs = new TreeMap<>();
        for (Guest guest : guests) {
            needs.put(new RankInstance(new RankId(new JobId(guest.job()), guest.rank()), 1, 1), gib(guest.gibibytes()));
        }
        return new LoadedDevice(
                NODE,
                new DeviceId(name),
                name,
                gib(capacity),
                gib(capacity).times(Share.ofPercent(80)),
                MemoryBytes.ZERO,
                needs);
    }

    private static List<MoveSuggestion> suggest(LoadedDevice... devices) {
        return MoveRule.suggest(List.of(devices), UNEVEN, GAIN);
    }

    @Test
    void theRankWhoseMoveBringsTheFullerDownTheMostGoesWhereThatIsLeast() {
        List<MoveSuggestion> moves = suggest(
                device("full", 100, new Guest("a", 0, 20), new Guest("b", 0, 50)),
                device("half", 100, new Guest("c", 0, 40)),
                device("empty", 100));

        // 70, 40 and 0: 50 and 20 when the one of 50 goes, 50 and 20 when that of 20 does.
        assertThat(moves).hasSize(1);
        assertThat(moves.get(0).rank()).isEqualTo(new RankId(new JobId("a"), 0));
        assertThat(moves.get(0))
                .extracting(
                        MoveSuggestion::fullerBasisPoints,
                        MoveSuggestion::fullerThenBasisPoints,
                        MoveSuggestion::meanBasisPoints,
                        MoveSuggestion::meanThenBasisPoints)
                .containsExactly(7_000, 5_000, 3_666, 3_666);
        assertThat(moves.get(0).text())
                .isEqualTo(
                        "rank a/0 from full to empty: it needs 20.0 GiB; the fuller of the two would go from 70 % to 50 %,"
                                + " the mean of all devices from 36 % to 36 %");
    }

    @Test
    void onALargerDeviceTheMeanComesDownToo() {
        List<MoveSuggestion> moves = suggest(device("small", 40, new Guest("a", 0, 30)), device("large", 160));

        assertThat(moves)
                .extracting(
                        MoveSuggestion::to,
                        MoveSuggestion::fullerThenBasisPoints,
                        MoveSuggestion::meanBasisPoints,
                        MoveSuggestion::meanThenBasisPoints)
                .containsExactly(tuple(new DeviceId("large"), 1_875, 3_750, 938));
    }

    @Test
    void noDeviceGetsARankOfAJobItHostsOrOneThatDoesNotFitBesideTheReserve() {
        assertThat(suggest(
                        device("full", 100, new Guest("a", 0, 30), new Guest("a", 1, 50)),
                        device("host", 100, new Guest("a", 2, 1))))
                .isEmpty();
        assertThat(suggest(device("full", 100, new Guest("a", 0, 75)), device("small", 90)))
                .isEmpty();
    }

    @Test
    void thatTwoAreEquallyFullHindersNoSuggestionForEither() {
        assertThat(suggest(
                        device("one", 100, new Guest("a", 0, 40), new Guest("b", 0, 40)),
                        device("two", 100, new Guest("c", 0, 40), new Guest("d", 0, 40)),
                        device("three", 100),
                        device("four", 100)))
                .extracting(MoveSuggestion::to)
                .containsExactlyInAnyOrder(new DeviceId("three"), new DeviceId("four"));
    }

    @Test
    void farDevicesAreThoseFarAboveOrBelowTheMean() {
        assertThat(MoveRule.far(
                        List.of(
                                device("full", 100, new Guest("a", 0, 80)),
                                device("half", 100, new Guest("b", 0, 40)),
                                device("empty", 100)),
                        UNEVEN))
                .extracting(FarDevice::device, FarDevice::fillBasisPoints, FarDevice::meanBasisPoints)
                .containsExactly(tuple(new DeviceId("full"), 8_000, 4_000), tuple(new DeviceId("empty"), 0, 4_000));
    }

    @Test
    void whatADeviceHoldsIsWhatItsRanksHoldAtMostAndOneThatIsNotKnownIsNotCompared() {
        TrainedJob job = TrainedJob.of(20, new Member(64_000, 8_000, 0, 1_000), new Member(32_000, 8_000, 0, 1_000));
        assertThat(LoadedDevice.of(job.view())).extracting(LoadedDevice::fill).containsExactly(2_250, 4_500);

        job.told = 1;
        assertThat(LoadedDevice.of(job.view())).extracting(LoadedDevice::fill).containsExactly(2_250);
    }

    @Property(tries = 300)
    void balancedDevicesGetNoSuggestionAndEverySuggestionFitsAndHelps(
            @ForAll @IntRange(min = 2, max = 12) int count, @ForAll boolean isBalanced, @ForAll long seed) {
        Random random = new Random(seed);
        List<LoadedDevice> devices = new ArrayList<>();
        IntStream.range(0, count).forEach(i -> {
            Guest[] guests = IntStream.range(0, isBalanced ? 1 : random.nextInt(4))
                    .mapToObj(rank -> new Guest(
                            "job" + i + rank, rank, isBalanced ? 30 + random.nextInt(10) : random.nextInt(25)))
                    .toArray(Guest[]::new);
            devices.add(device("d" + i, isBalanced ? 80 : 40 + random.nextInt(80), guests));
        });

        List<MoveSuggestion> moves = MoveRule.suggest(devices, UNEVEN, GAIN);

        assertThat(moves.isEmpty() || !isBalanced).as("%s", devices).isTrue();
        assertThat(moves).allSatisfy(move -> {
            assertThat(move.fullerBasisPoints() - move.fullerThenBasisPoints()).isGreaterThanOrEqualTo(1_000);
            assertThat(move.from()).isNotEqualTo(move.to());
        });
    }
}
