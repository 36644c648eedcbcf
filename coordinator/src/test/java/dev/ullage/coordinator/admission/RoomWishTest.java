package dev.ullage.coordinator.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankGroup;
import dev.ullage.coordinator.planning.RoomToMake;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RoomWishTest {
    private static final MemoryBytes MOST = MemoryBytes.ofGibibytes(64);

    private static DeviceOffer device(int index, long roomGib) {
        DeviceInfo info =
                new DeviceInfo(new DeviceId("GPU-" + index), index, "H100", DeviceKind.DISCRETE, Optional.empty());
        return new DeviceOffer(new NodeId("host"), info, MOST, MemoryBytes.ofGibibytes(roomGib), Optional.empty());
    }

    private static RoomWish wish(int ranks, RoomWish.Lower lower, RoomWish before, long... roomsGib) {
        List<DeviceOffer> offers = IntStream.range(0, roomsGib.length)
                .mapToObj(i -> device(i, roomsGib[i]))
                .toList();
        RankGroup group = RankGroup.ofMemory(ranks, MemoryBytes.ofGibibytes(30));
        return RoomWish.of(
                VirtualCluster.request("high", Priority.HIGH, List.of(group), OptionalLong.empty()),
                new Rooms(offers, new TreeMap<>()),
                lower,
                before);
    }

    private static RoomToMake made(long gib) {
        return new RoomToMake(MemoryBytes.ofGibibytes(gib), new TreeSet<>(List.of(new JobId("low"))));
    }

    @Test
    void onlyWhereAllRanksWouldFindRoomIsAnybodyAsked() {
        RoomWish.Lower lower = (device, than) -> device.value().equals("GPU-0") ? made(20) : RoomToMake.NONE;

        assertThat(wish(2, lower, RoomWish.NONE, 10, 40).wanted()).hasSize(2);
        assertThat(wish(2, lower, RoomWish.NONE, 10, 40).asked()).containsExactly(new JobId("low"));
        assertThat(wish(3, lower, RoomWish.NONE, 10, 40, 10).wanted()).isEmpty();
        assertThat(wish(1, lower, RoomWish.NONE, 5, 5).wanted()).isEmpty();
    }

    @Test
    void nobodyIsAskedWhereThereIsRoom() {
        assertThat(wish(1, (device, than) -> made(60), RoomWish.NONE, 10, 40).wanted())
                .isEmpty();
    }

    @Test
    void whoWasAskedIsAskedAgainAndNoOther() {
        RoomWish.Lower lower = (device, than) -> made(25);
        RoomWish first = wish(1, lower, RoomWish.NONE, 10, 5);
        DeviceId asked = first.wanted().firstKey();
        // The other one has more now, and would have been chosen.
        long here = asked.value().equals("GPU-0") ? 6 : 28;
        RoomWish second = wish(1, lower, first, here, 34 - here);

        assertThat(first.wanted()).hasSize(1);
        assertThat(second.wanted()).containsOnlyKeys(asked);
    }
}
