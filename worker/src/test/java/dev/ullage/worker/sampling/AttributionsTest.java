package dev.ullage.worker.sampling;

import static dev.ullage.common.testing.Fixtures.gib;
import static dev.ullage.common.testing.Fixtures.rank;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.model.SampleState;
import dev.ullage.worker.sampling.Attribution.Placed;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What is kept of whose the processes are, and when it is worked out anew. */
class AttributionsTest {
    private static final DeviceId DEVICE = new DeviceId("GPU-a");
    private static final DeviceId OTHER = new DeviceId("GPU-b");

    private final Attributions attributions = new Attributions();
    private final List<ProcessUse> processes = List.of(new ProcessUse(100, Optional.of(gib(1))));
    private final List<Ancestry> ancestries = List.of(new Ancestry(100, true, List.of(50L)));
    private final Map<Long, Placed> none = Map.of();
    private final Map<Long, Placed> parent = Map.of(50L, new Placed(rank(0).rank(), DEVICE));

    private static Sample sample(DeviceId device, List<ProcessUse> processes, List<Ancestry> ancestries) {
        DeviceReading reading = new DeviceReading(Optional.empty(), Optional.of(processes), List.of());
        return new Sample(device, reading, ancestries, Duration.ZERO, new SampleQuality(SampleState.FRESH, 0));
    }

    @Test
    void theSameProcessesAndRanksAreNotLookedAtAgain() {
        Attribution first = attributions.of(sample(DEVICE, processes, ancestries), parent);

        assertThat(first.owners()).containsEntry(100L, 50L);
        assertThat(attributions.of(sample(DEVICE, processes, ancestries), parent))
                .isSameAs(first);
    }

    @Test
    void aRankThatComesAndAProcessThatComesAreSeen() {
        assertThat(attributions.of(sample(DEVICE, processes, ancestries), none).owners())
                .isEmpty();
        assertThat(attributions
                        .of(sample(DEVICE, processes, ancestries), parent)
                        .owners())
                .containsOnlyKeys(100L);

        List<ProcessUse> two = List.of(processes.get(0), new ProcessUse(101, Optional.of(gib(2))));
        List<Ancestry> ofTwo = List.of(ancestries.get(0), new Ancestry(101, true, List.of(50L)));
        assertThat(attributions.of(sample(DEVICE, two, ofTwo), parent).owners()).containsOnlyKeys(100L, 101L);
    }

    @Test
    void aProcessThatIsAnotherOneOfTheSameNumberIsSeen() {
        assertThat(attributions
                        .of(sample(DEVICE, processes, ancestries), parent)
                        .owners())
                .containsOnlyKeys(100L);

        List<Ancestry> ofAnother = List.of(new Ancestry(100, true, List.of(60L)));
        assertThat(attributions.of(sample(DEVICE, processes, ofAnother), parent).owners())
                .isEmpty();
    }

    @Test
    void eachDeviceHasItsOwn() {
        Attribution here = attributions.of(sample(DEVICE, processes, ancestries), parent);
        Attribution there = attributions.of(sample(OTHER, processes, ancestries), parent);

        assertThat(here.owners()).isNotEmpty();
        assertThat(there.owners()).isEmpty();
        assertThat(there.problems()).singleElement().asString().contains("a stray context");
    }
}
