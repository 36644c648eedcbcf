package dev.ullage.worker.rungs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.worker.enforcement.Ladder.Fact;
import dev.ullage.worker.enforcement.Ladder.Holds;
import dev.ullage.worker.enforcement.Ladder.NotPossible;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class HolderTest {
    private static final RankInstance RANK = new RankInstance(new RankId(new JobId("bert"), 0), 100, 7);

    /** Does what a test sets. */
    private static final class FakeRung implements Rung {
        private Attempt next = new Impossible("not loaded");
        private boolean live = true;
        private int probes;
        private final List<RankInstance> cleared = new ArrayList<>();

        @Override
        public EnforcedBy name() {
            return EnforcedBy.HAMI_CORE;
        }

        @Override
        public boolean isLive() {
            return live;
        }

        @Override
        public Attempt probe(RankProcess process) {
            probes++;
            return next;
        }

        @Override
        public void clear(RankInstance instance) {
            cleared.add(instance);
        }
    }

    private final FakeRung rung = new FakeRung();
    private boolean stillIt = true;
    private final Holder holder = new Holder(List.of(rung), process -> stillIt);

    private static MemoryBytes mib(long mebibytes) {
        return MemoryBytes.ofMebibytes(mebibytes);
    }

    private Fact round(DeviceKind kind, long ceilingMib) {
        DeviceInfo device = new DeviceInfo(new DeviceId("GPU-1"), 0, "H100", kind, Optional.empty());
        return holder.hold(new RankProcess(RANK, device, Path.of("/proc")), mib(ceilingMib))
                .getOrDefault(EnforcedBy.HAMI_CORE, new NotPossible("absent"));
    }

    private Fact round(long ceilingMib) {
        return round(DeviceKind.DISCRETE, ceilingMib);
    }

    @Test
    void whatHoldsIsWhatWasReadBackNotWhatWasAsked() {
        rung.next = new Rung.Possible(limit -> limit.roundedUpTo(mib(4096)));

        assertThat(round(4000)).isEqualTo(new Holds(Optional.of(mib(4096))));
        assertThat(round(8000)).isEqualTo(new Holds(Optional.of(mib(8192))));
        assertThat(rung.probes).isEqualTo(1);
    }

    @Test
    void aRankThatCannotBeHeldIsLookedAtAgainButNotInEachRound() {
        assertThat(round(4000)).isEqualTo(new NotPossible("not loaded"));
        rung.next = new Rung.Possible(limit -> limit);
        for (int i = 1; i < Holder.PROBE_EVERY_ROUNDS; i++) {
            assertThat(round(4000)).isEqualTo(new NotPossible("not loaded"));
        }

        assertThat(round(4000)).isEqualTo(new Holds(Optional.of(mib(4000))));
        assertThat(rung.probes).isEqualTo(2);
    }

    @Test
    void aGripThatFailsIsNotClaimedAndFoundAnewInTheNextRound() {
        AtomicBoolean isCut = new AtomicBoolean();
        rung.next = new Rung.Possible(limit -> {
            if (isCut.get()) {
                throw new IOException("its region was cut short");
            }
            return limit;
        });
        round(4000);
        isCut.set(true);
        assertThat(round(4000)).isEqualTo(new NotPossible("it cannot be held by it: its region was cut short"));
        rung.next = new Rung.Possible(limit -> limit);

        assertThat(round(4000)).isEqualTo(new Holds(Optional.of(mib(4000))));
    }

    @Test
    void whatNeverHeldIsNotTriedInEachRound() {
        rung.next = new Rung.Possible(limit -> {
            throw new IOException("NO_PERMISSION");
        });
        for (int i = 0; i < Holder.PROBE_EVERY_ROUNDS; i++) {
            assertThat(round(4000)).isEqualTo(new NotPossible("it cannot be held by it: NO_PERMISSION"));
        }

        assertThat(rung.probes).isEqualTo(1);
    }

    @Test
    void whatIsFixedAtTheStartHoldsOnlyWhileItIsWithinTheCeiling() {
        rung.live = false;
        rung.next = new Rung.Possible(limit -> mib(4000));

        assertThat(round(4000)).isEqualTo(new Holds(Optional.of(mib(4000))));
        assertThat(round(3000))
                .isEqualTo(new NotPossible(
                        "it was started with 3.9 GiB, more than its ceiling of 2.9 GiB, and that needs a restart"));
    }

    @Test
    void aSimulatedDeviceIsNotTouched() {
        assertThat(round(DeviceKind.SIMULATED, 4000)).isEqualTo(new NotPossible("its device is simulated"));
        assertThat(rung.probes).isZero();
    }

    @Test
    void anotherProcessWithTheSameNumberIsNotTouched() {
        rung.next = new Rung.Possible(limit -> limit);
        stillIt = false;

        assertThat(round(4000)).isEqualTo(new NotPossible("its process is gone"));
        assertThat(rung.probes).isZero();
        RankProcess self = new RankProcess(
                new RankInstance(RANK.rank(), ProcessHandle.current().pid(), 1),
                new DeviceInfo(new DeviceId("GPU-1"), 0, "H100", DeviceKind.DISCRETE, Optional.empty()),
                Path.of("/proc"));
        assertThat(self.isStillIt()).isFalse();
    }

    @Test
    void aProcessThatIsGoneIsForgotten() {
        round(4000);

        holder.clear(RANK);

        assertThat(rung.cleared).containsExactly(RANK);
        round(4000);
        assertThat(rung.probes).isEqualTo(2);
    }
}
