package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceInfo;
import java.util.List;

/** The device of a rank, or why it has none. Warnings are to be shown in both cases. */
public sealed interface DeviceResolution {
    List<String> warnings();

    /** @param device the one device whose memory the rank's limit is about */
    record Resolved(DeviceInfo device, List<String> warnings) implements DeviceResolution {
        public Resolved {
            warnings = List.copyOf(warnings);
        }
    }

    /** @param reason who asked for what, what there is, and what to do; one sentence */
    record Refused(String reason, List<String> warnings) implements DeviceResolution {
        public Refused {
            warnings = List.copyOf(warnings);
        }
    }
}
