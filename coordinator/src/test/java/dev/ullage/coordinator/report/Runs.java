package dev.ullage.coordinator.report;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
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
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankWatch.Allocator;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.ToOperator.AccountOf;
import dev.ullage.common.protocol.ToOperator.Accounts;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** A job of two ranks on one device of 80 GiB, an hour long, of which everything is known; and parts of it. */
public final class Runs {
    public static final JobId JOB = new JobId("bert");
    private static final OptionalLong UNKNOWN = OptionalLong.empty();

    private Runs() {}

    public static RankInstance rank(int number) {
        return new RankInstance(new RankId(JOB, number), 100 + number, 7);
    }

    /** Half of the device is promised to each rank, of which it holds half on average and 30 GiB at most. */
    static Memory memory() {
        return new Memory(
                Optional.of(MemoryBytes.ofGibibytes(80)),
                Optional.of(MemoryBytes.ofGibibytes(30)),
                List.of(
                        new PhaseMemory(
                                Phase.FORWARD,
                                Optional.of(MemoryBytes.ofGibibytes(20)),
                                Optional.of(MemoryBytes.ofGibibytes(40))),
                        new PhaseMemory(
                                Phase.BACKWARD,
                                Optional.of(MemoryBytes.ofGibibytes(30)),
                                Optional.of(MemoryBytes.ofGibibytes(40)))),
                Optional.of(new RoomOverTime(3_600_000, 40 * 1024 * 3600, 20 * 1024 * 3600, 20 * 1024 * 3600)),
                Optional.of(new Allocator(
                        OptionalLong.of(9),
                        OptionalLong.of(3),
                        Optional.of(Share.ofPercent(10)),
                        Optional.empty(),
                        OptionalLong.of(1),
                        OptionalLong.of(2))),
                Optional.of(Share.ofPercent(25)));
    }

    static Training training() {
        return new Training(
                3_600_000,
                7_000,
                OptionalLong.of(224_000),
                OptionalLong.of(60_000_000),
                new PhaseTimes(List.of(
                        new PhaseTime(Phase.INIT, 100_000),
                        new PhaseTime(Phase.FORWARD, 1_000_000),
                        new PhaseTime(Phase.BACKWARD, 2_500_000))),
                new Waits(OptionalLong.of(36_000), OptionalLong.of(0)),
                new Latency(OptionalLong.of(1_000), OptionalLong.of(2_500)),
                new Losses(List.of(new LossPoint(10, 4_000_000_000L), new LossPoint(7_000, 1_250_000_000L)), 0));
    }

    static RankAccount account(int rank, Memory memory, Optional<Training> training) {
        return new RankAccount(
                rank(rank),
                new DeviceId("GPU-a"),
                OptionalInt.of(2),
                3_660_000,
                OptionalLong.of(60_000),
                memory,
                training);
    }

    /** Of which nobody told anything. */
    static RankAccount silent(int rank) {
        return account(
                rank,
                new Memory(
                        Optional.empty(),
                        Optional.empty(),
                        List.of(),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty()),
                Optional.empty());
    }

    /** One that lives and has done a step, but says no more than it must. */
    static RankAccount terse(int rank) {
        Training training = new Training(
                1_000,
                1,
                UNKNOWN,
                UNKNOWN,
                new PhaseTimes(List.of()),
                new Waits(UNKNOWN, UNKNOWN),
                new Latency(UNKNOWN, UNKNOWN),
                new Losses(List.of(), 0));
        return new RankAccount(
                rank(rank),
                new DeviceId("GPU-a"),
                OptionalInt.empty(),
                2_000,
                UNKNOWN,
                silent(rank).memory(),
                Optional.of(training));
    }

    static Accounts of(RankAccount... accounts) {
        return new Accounts(
                List.of(accounts).stream()
                        .map(account -> new AccountOf(new NodeId("host-a"), account, Optional.empty()))
                        .toList(),
                0,
                List.of());
    }

    /** Everything is known, the plan too. */
    public static Accounts known() {
        PhaseLimits planned = PhaseLimits.of(phase -> MemoryBytes.ofGibibytes(44));
        return new Accounts(
                List.of(
                        new AccountOf(
                                new NodeId("host-a"),
                                account(0, memory(), Optional.of(training())),
                                Optional.of(planned)),
                        new AccountOf(
                                new NodeId("host-a"),
                                account(1, memory(), Optional.of(training())),
                                Optional.of(planned))),
                0,
                List.of());
    }

    /** Of which next to nothing is known. */
    public static Accounts terse() {
        return of(terse(0), silent(1));
    }
}
