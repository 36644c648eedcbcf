package dev.ullage.common.protocol;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.DeviceWatched;
import dev.ullage.common.protocol.ToCoordinator.DevicesSampled;
import java.util.List;
import java.util.Optional;

/** Readings for {@link WireSamples}: of one device, and of a round. */
final class SampledRounds {
    private SampledRounds() {}

    static DeviceSampled device(NodeId node, DeviceId device, MemoryUse memory) {
        return new DeviceSampled(
                node,
                device,
                120,
                Optional.of(memory),
                Optional.of(MemoryBytes.ofMebibytes(512)),
                List.of(RankSamples.full()),
                List.of("nvmlDeviceGetComputeRunningProcesses: not supported; foreign memory is not known"));
    }

    static DevicesSampled of(NodeId node, DeviceSampled first) {
        DeviceId other = new DeviceId("GPU-33333333-3333-4333-8333-333333333333");
        DeviceSampled second =
                new DeviceSampled(node, other, 0, Optional.empty(), Optional.empty(), List.of(), List.of());
        return new DevicesSampled(
                node,
                List.of(first, second),
                List.of(new DeviceWatched(node, first.device(), new SampleQuality(SampleState.FRESH, 2))));
    }

    static DevicesSampled empty(NodeId node) {
        return new DevicesSampled(node, List.of(), List.of());
    }
}
