package dev.ullage.common.protocol;

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
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.Share;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** What a rank has come to, for {@link WireSamples}: with every part, and with what cannot be left out. */
final class AccountSamples {
    private AccountSamples() {}

    static Optional<RankAccounts> told(RankInstance rank, DeviceId device) {
        return Optional.of(new RankAccounts(List.of(full(rank, device))));
    }

    static RankAccount full(RankInstance rank, DeviceId device) {
        return new RankAccount(
                rank,
                device,
                OptionalInt.of(8),
                90_000,
                OptionalLong.of(1_000),
                new Memory(
                        Optional.of(MemoryBytes.ofGibibytes(80)),
                        Optional.of(MemoryBytes.ofGibibytes(12)),
                        List.of(new PhaseMemory(
                                Phase.BACKWARD,
                                Optional.of(MemoryBytes.ofGibibytes(12)),
                                Optional.of(MemoryBytes.ofGibibytes(16)))),
                        Optional.of(new RoomOverTime(60_000, 983_040, 700_000, 283_040)),
                        Optional.of(new RankWatch.Allocator(
                                OptionalLong.of(1),
                                OptionalLong.of(2),
                                Optional.of(Share.ofPercent(3)),
                                Optional.of(Share.ofPercent(4)),
                                OptionalLong.of(5),
                                OptionalLong.of(6))),
                        Optional.of(Share.ofPercent(7))),
                Optional.of(new Training(
                        80_000,
                        120,
                        OptionalLong.of(3_840),
                        OptionalLong.of(1_500_000),
                        new PhaseTimes(
                                List.of(new PhaseTime(Phase.INIT, 9_000), new PhaseTime(Phase.BACKWARD, 50_000))),
                        new Waits(OptionalLong.of(10), OptionalLong.of(20)),
                        new Latency(OptionalLong.of(30), OptionalLong.of(40)),
                        new Losses(List.of(new LossPoint(10, 2_500_000_000L), new LossPoint(20, -1)), 3))));
    }

    static RankAccount sparse(RankInstance rank, DeviceId device) {
        return new RankAccount(
                rank,
                device,
                OptionalInt.empty(),
                0,
                OptionalLong.empty(),
                new Memory(
                        Optional.empty(),
                        Optional.empty(),
                        List.of(),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty()),
                Optional.empty());
    }
}
