package dev.ullage.worker;

import dev.ullage.common.model.DeviceId;
import dev.ullage.worker.enforcement.EnforcementWatch.Change;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The lines that say that a rank is above its ceiling, and that it is no more. */
final class AlarmLog {
    private static final Logger LOG = LoggerFactory.getLogger(AlarmLog.class);

    private AlarmLog() {}

    static void tell(DeviceId device, Change change) {
        if (change.isRaised()) {
            LOG.warn(
                    "device={} rank={} alarm=ABOVE_CEILING used=\"{}\" bound=\"{}\" reason=\"its processes use more"
                            + " than it was given; see whyNotHigher in the status for what could hold it\"",
                    device,
                    change.instance(),
                    change.used(),
                    change.bound());
        } else {
            LOG.info(
                    "device={} rank={} alarm=OVER used=\"{}\" bound=\"{}\" reason=\"within its limit again\"",
                    device,
                    change.instance(),
                    change.used(),
                    change.bound());
        }
    }
}
