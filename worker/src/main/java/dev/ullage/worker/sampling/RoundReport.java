package dev.ullage.worker.sampling;

import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.DeviceWatched;
import dev.ullage.common.protocol.ToCoordinator.DevicesSampled;
import dev.ullage.worker.sampling.ReportPace.Report;
import java.util.ArrayList;
import java.util.List;

/**
 * What is to be told of one round of readings, as messages: one for all where the coordinator reads such and it does
 * not become large, else one for each. One owner, for one round.
 */
public final class RoundReport {
    /** More of them are told device by device: a message of any number of ranks would outgrow a frame. */
    static final int MOST_RANKS = 64;

    private final NodeId node;
    private final List<DeviceSampled> samples = new ArrayList<>();
    private final List<DeviceWatched> watched = new ArrayList<>();

    public RoundReport(NodeId node) {
        this.node = node;
    }

    /** @param quality of the readings, told where that is due */
    public void add(Report report, SampleQuality quality) {
        samples.add(report.sample());
        if (report.isQualityDue()) {
            watched.add(new DeviceWatched(node, report.sample().device(), quality));
        }
    }

    /** @param readsRounds whether the coordinator reads messages of whole rounds */
    public List<ToCoordinator> messages(boolean readsRounds) {
        int ranks = samples.stream().mapToInt(sample -> sample.ranks().size()).sum();
        if (readsRounds && samples.size() + watched.size() > 1 && ranks <= MOST_RANKS) {
            return List.of(new DevicesSampled(node, samples, watched));
        }
        List<ToCoordinator> messages = new ArrayList<>(samples);
        messages.addAll(watched);
        return messages;
    }
}
