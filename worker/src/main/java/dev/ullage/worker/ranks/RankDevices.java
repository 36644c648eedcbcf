package dev.ullage.worker.ranks;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.worker.probe.DeviceRequest;
import dev.ullage.worker.probe.DeviceResolution;
import dev.ullage.worker.probe.DeviceResolution.Refused;
import dev.ullage.worker.probe.DeviceResolution.Resolved;
import dev.ullage.worker.probe.DeviceResolver;
import dev.ullage.worker.ranks.BadMessageException.Code;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Chooses the device of a rank among those of this worker. */
public final class RankDevices {
    private static final Logger LOG = LoggerFactory.getLogger(RankDevices.class);

    private final Supplier<List<DeviceInfo>> devices;
    private final Supplier<Optional<List<DeviceId>>> fastestFirst;

    /**
     * @param devices those there are now, asked for each rank; from any thread
     * @param fastestFirst the order in which CUDA numbers them, where it can be had; asked only when a rank names one
     *     of unequal devices by a number
     */
    public RankDevices(Supplier<List<DeviceInfo>> devices, Supplier<Optional<List<DeviceId>>> fastestFirst) {
        this.devices = devices;
        this.fastestFirst = fastestFirst;
    }

    DeviceInfo choose(RankMessage.Hello hello) throws BadMessageException {
        DeviceRequest request = new DeviceRequest(
                hello.wish().visibleDevices(),
                hello.facts().localRank(),
                hello.wish().device(),
                hello.wish().deviceOrder(),
                hello.wish().containerDevices());
        DeviceResolution resolution = DeviceResolver.resolve(request, devices.get(), fastestFirst);
        resolution.warnings().forEach(warning -> LOG.warn("rank={} reason=\"{}\"", hello.rank(), warning));
        if (resolution instanceof Resolved resolved) {
            return resolved.device();
        }
        throw new BadMessageException(Code.NO_SUCH_DEVICE, ((Refused) resolution).reason());
    }
}
