package dev.ullage.coordinator.admission;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import java.util.Optional;

/**
 * What one device could give a job.
 *
 * @param most what all ranks on it together could ever be promised: foreign processes may end, the reserve stays
 * @param room what is left of that now, in whole MiB; nothing where {@code out} is present
 * @param out why it takes nothing, whatever is left on it
 */
record DeviceOffer(NodeId node, DeviceInfo info, MemoryBytes most, MemoryBytes room, Optional<String> out) {

    DeviceOffer {
        long bytes = out.isPresent() ? 0 : room.min(most).value();
        room = MemoryBytes.of(bytes - bytes % MemoryBytes.MEBIBYTE);
    }

    DeviceId id() {
        return info.id();
    }

    DeviceOffer withRoom(MemoryBytes other) {
        return new DeviceOffer(node, info, most, other, out);
    }

    /** As if nothing ran there, and it could be had. */
    DeviceOffer atItsBest() {
        return new DeviceOffer(node, info, most, most, Optional.empty());
    }

    /** For people. */
    String label() {
        return "%s device %d (%s)".formatted(node, info.index(), info.name());
    }
}
