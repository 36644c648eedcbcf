package dev.ullage.worker.sampling;

import static dev.ullage.common.testing.Fixtures.gib;
import static dev.ullage.common.testing.Fixtures.mib;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.MemoryBytes;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Each change of the terms is a line in the ledger and a flush of the disk: they are steady, and never too generous.
 */
class DeviceTermsTest {
    private final DeviceTerms discrete = new DeviceTerms(DeviceKind.DISCRETE);
    private final DeviceTerms unified = new DeviceTerms(DeviceKind.UNIFIED);

    private MemoryBytes foreign(MemoryBytes measured) {
        return discrete.foreign(Optional.of(measured), Optional.empty());
    }

    private static MemoryUse shared(MemoryBytes reserved) {
        return new MemoryUse(gib(100), Optional.of(reserved), MemoryBytes.ZERO, gib(100).minus(reserved));
    }

    @Test
    void moreForeignMemoryCountsAtOnce() {
        assertThat(foreign(mib(64))).isEqualTo(mib(64));
        assertThat(foreign(mib(128))).isEqualTo(mib(128));
    }

    @Test
    void aValueThatSwingsAroundAStepChangesNothing() {
        foreign(mib(128));
        for (int i = 0; i < 100; i++) {
            assertThat(foreign(i % 2 == 0 ? mib(64) : mib(128))).isEqualTo(mib(128));
        }
    }

    @Test
    void lessForeignMemoryCountsAfterTenSamplesOrAtOnceIfItIsTwoSteps() {
        foreign(mib(192));
        for (int i = 1; i < SteadyAmount.PATIENCE; i++) {
            assertThat(foreign(mib(128))).as("sample %d", i).isEqualTo(mib(192));
        }
        assertThat(foreign(mib(128))).isEqualTo(mib(128));
        assertThat(foreign(mib(0))).isEqualTo(mib(0));
    }

    @Test
    void itIsCountingWhileWhatWasMeasuredIsNotBelieved() {
        foreign(mib(192));
        assertThat(discrete.isCounting()).isFalse();
        for (int i = 1; i < SteadyAmount.PATIENCE; i++) {
            foreign(mib(128));
            assertThat(discrete.isCounting()).as("sample %d", i).isTrue();
        }
        foreign(mib(128));
        assertThat(discrete.isCounting()).isFalse();

        unified.allocatable(shared(gib(4)));
        unified.allocatable(shared(gib(4).minus(DeviceTerms.SHARED_STEP)));
        assertThat(unified.isCounting()).isTrue();
        unified.retired();
        assertThat(unified.isCounting()).isFalse();
    }

    @Test
    void itIsCountingUntilItsBoundsAgree() {
        for (int i = 1; i < SteadyBound.WINDOW; i++) {
            discrete.foreign(Optional.empty(), Optional.of(settled(200)));
            assertThat(discrete.isCounting()).as("sample %d", i).isTrue();
        }
        discrete.foreign(Optional.empty(), Optional.of(settled(200)));
        assertThat(discrete.isCounting()).isFalse();

        discrete.foreign(Optional.empty(), Optional.of(settled(300)));
        assertThat(discrete.isCounting()).isTrue();
    }

    private static ForeignBounds settled(long mostMib) {
        return new ForeignBounds(mib(1024), mib(1024), mib(0), mib(0), mib(mostMib), true);
    }

    @Test
    void whatIsNotKnownChangesNothingAndIsZeroOnlyBeforeAnythingWasKnown() {
        assertThat(discrete.foreign(Optional.empty(), Optional.empty())).isEqualTo(MemoryBytes.ZERO);
        foreign(mib(128));
        assertThat(discrete.foreign(Optional.empty(), Optional.empty())).isEqualTo(mib(128));
    }

    @Test
    void memoryOfItsOwnIsAllocatableToTheByte() {
        MemoryUse memory = new MemoryUse(gib(80), Optional.of(MemoryBytes.of(541917184)), mib(0), gib(79));

        assertThat(discrete.allocatable(memory)).isEqualTo(gib(80).minus(MemoryBytes.of(541917184)));
    }

    @Test
    void sharedMemoryIsAllocatableInStepsDownAtOnceAndUpLate() {
        assertThat(unified.allocatable(shared(mib(1)))).isEqualTo(gib(100).minus(mib(256)));
        assertThat(unified.allocatable(shared(mib(300)))).isEqualTo(gib(100).minus(mib(512)));
        for (int i = 1; i < SteadyAmount.PATIENCE; i++) {
            assertThat(unified.allocatable(shared(mib(200)))).isEqualTo(gib(100).minus(mib(512)));
        }
        assertThat(unified.allocatable(shared(mib(200)))).isEqualTo(gib(100).minus(mib(256)));
        assertThat(unified.allocatable(shared(gib(10)))).isEqualTo(gib(90));
        assertThat(unified.allocatable(shared(gib(5)))).isEqualTo(gib(95));
    }

    @Test
    void theLedgerIsToldOfChangesAtOnceAndOfTheSameAgainAfterTenSeconds() {
        MemoryUse memory = shared(gib(20));
        Instant start = Instant.EPOCH;
        DeviceTerms.Planned same = new DeviceTerms.Planned(gib(80), mib(64));

        assertThat(discrete.news(memory, Optional.of(mib(64)), Optional.empty(), start))
                .contains(same);
        assertThat(discrete.news(memory, Optional.of(mib(64)), Optional.empty(), start.plusMillis(9_999)))
                .isEmpty();
        assertThat(discrete.news(memory, Optional.empty(), Optional.empty(), start.plusMillis(10_000)))
                .contains(same);
        assertThat(discrete.news(memory, Optional.of(mib(128)), Optional.empty(), start.plusMillis(10_001)))
                .contains(new DeviceTerms.Planned(gib(80), mib(128)));
        assertThat(discrete.news(shared(gib(19)), Optional.of(mib(128)), Optional.empty(), start.plusMillis(10_002)))
                .contains(new DeviceTerms.Planned(gib(81), mib(128)));
    }

    @Test
    void aDeviceThatCouldHoldNothingForATimeIsReadAnewWhenItIsBack() {
        MemoryUse memory = shared(gib(20));
        discrete.news(memory, Optional.of(mib(640)), Optional.empty(), Instant.EPOCH);

        discrete.retired();

        assertThat(discrete.news(memory, Optional.of(mib(64)), Optional.empty(), Instant.EPOCH.plusMillis(1)))
                .contains(new DeviceTerms.Planned(gib(80), mib(64)));
    }
}
