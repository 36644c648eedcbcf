package dev.ullage.worker.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.DeviceWatched;
import dev.ullage.common.protocol.ToCoordinator.DevicesSampled;
import dev.ullage.worker.sampling.ReportPace.Report;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class RoundReportTest {
    private static final NodeId NODE = new NodeId("n");
    private static final SampleQuality FRESH = new SampleQuality(SampleState.FRESH, 3);

    private final RoundReport round = new RoundReport(NODE);

    private static DeviceSampled device(int number, int ranks) {
        return new DeviceSampled(
                NODE,
                new DeviceId("GPU-" + number),
                0,
                Optional.empty(),
                Optional.empty(),
                Collections.nCopies(ranks, rank()),
                List.of());
    }

    private static RankSample rank() {
        return new RankSample(
                new RankInstance(new RankId(new JobId("j"), 0), 4711, 1),
                new RankFacts(OptionalInt.empty(), OptionalInt.empty(), "none", 0, Optional.empty(), List.of()),
                new RankSample.Activity(Phase.FORWARD, OptionalLong.empty()),
                RankUse.UNKNOWN,
                EnforcedBy.ADVISORY,
                true,
                0);
    }

    private static DeviceWatched watched(int number) {
        return new DeviceWatched(NODE, new DeviceId("GPU-" + number), FRESH);
    }

    private void add(int number, int ranks, boolean isQualityDue) {
        round.add(new Report(device(number, ranks), isQualityDue), FRESH);
    }

    @Test
    void aRoundIsOneMessageForACoordinatorThatReadsSuch() {
        add(1, 1, true);
        add(2, 0, false);

        assertThat(round.messages(true))
                .containsExactly(new DevicesSampled(NODE, List.of(device(1, 1), device(2, 0)), List.of(watched(1))));
    }

    @Test
    void anOlderCoordinatorIsToldOfEachDevice() {
        add(1, 1, true);
        add(2, 0, false);

        assertThat(round.messages(false)).containsExactly(device(1, 1), device(2, 0), watched(1));
    }

    @Test
    void aRoundOfManyRanksIsToldDeviceByDevice() {
        add(1, RoundReport.MOST_RANKS, false);
        assertThat(round.messages(true)).hasSize(1);
        add(2, 0, false);
        assertThat(round.messages(true)).hasSize(1).first().isInstanceOf(DevicesSampled.class);
        add(3, 1, false);
        assertThat(round.messages(true)).hasSize(3).allMatch(DeviceSampled.class::isInstance);
    }

    @Test
    void oneReadingIsToldAsItIsAndNoneIsNotTold() {
        assertThat(round.messages(true)).isEmpty();
        add(1, 0, false);
        assertThat(round.messages(true)).containsExactly(device(1, 0));
    }
}
