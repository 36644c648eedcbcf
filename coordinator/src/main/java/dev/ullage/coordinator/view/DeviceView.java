package dev.ullage.coordinator.view;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import java.time.Instant;
import java.util.Optional;

/**
 * The newest that is known of one device.
 *
 * @param report what its ledger said; the base of every plan
 * @param sample what was measured; for people, and a hint to some policies
 * @param quality how far that can be relied on; on a device that is not fresh nothing may grow
 */
public record DeviceView(
        NodeId node,
        DeviceInfo info,
        Optional<Heard<LimitsReported>> report,
        Optional<Heard<DeviceSampled>> sample,
        Optional<SampleQuality> quality) {

    static DeviceView announced(NodeId node, DeviceInfo info) {
        return new DeviceView(node, info, Optional.empty(), Optional.empty(), Optional.empty());
    }

    public DeviceId id() {
        return info.id();
    }

    /** What its worker last said of the readings; empty when it has not. */
    public Optional<SampleState> sampleState() {
        return quality.map(SampleQuality::state);
    }

    /** Whether the newest report of its ledger says that it obeys the coordinator with this token. */
    public boolean obeys(CoordinatorToken token) {
        return report.isPresent()
                && report.get().message().token().isPresent()
                && report.get().message().token().get().equals(token);
    }

    DeviceView withInfo(DeviceInfo newInfo) {
        return new DeviceView(node, newInfo, report, sample, quality);
    }

    /**
     * A ledger that says the same as before is kept as the object it was: whoever works something out from it sees at a
     * glance that there is nothing new.
     */
    DeviceView with(LimitsReported newReport, Instant now) {
        LimitsReported kept = report.map(Heard::message)
                .map(LimitsReported::ledger)
                .filter(newReport.ledger()::equals)
                .map(known -> new LimitsReported(
                        newReport.node(),
                        newReport.device(),
                        newReport.token(),
                        newReport.revision(),
                        known,
                        newReport.number()))
                .orElse(newReport);
        return new DeviceView(node, info, Optional.of(new Heard<>(kept, now)), sample, quality);
    }

    DeviceView withSample(Heard<DeviceSampled> newSample) {
        return new DeviceView(node, info, report, Optional.of(newSample), quality);
    }

    DeviceView withQuality(SampleQuality newQuality) {
        return new DeviceView(node, info, report, sample, Optional.of(newQuality));
    }
}
