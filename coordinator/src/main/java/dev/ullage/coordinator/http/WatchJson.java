package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.RankWatch.Allocator;
import dev.ullage.common.model.RankWatch.Leak;
import dev.ullage.common.model.RankWatch.PhasePeak;
import dev.ullage.common.model.RankWatch.Snapshot;
import dev.ullage.common.model.Share;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** What watching a rank has come to, as the field {@code watch} of {@link StatusJson}; by the same rules. */
final class WatchJson {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private WatchJson() {}

    static ObjectNode of(RankWatch watch) {
        ObjectNode json = NODES.objectNode();
        json.put("step", number(watch.progress().step()));
        json.put("epoch", number(watch.progress().epoch()));
        json.put("steps", watch.progress().steps());
        ArrayNode phases = json.putArray("phases");
        watch.phases().forEach(peak -> phases.add(phase(peak)));
        putAllocator(json, watch.allocator());
        json.set("leak", leak(watch.leak()));
        ArrayNode snapshots = json.putArray("snapshots");
        watch.snapshots().forEach(snapshot -> snapshots.add(snapshot(snapshot)));
        json.set(
                "microBatches",
                watch.microBatches().map(WatchJson::microBatches).orElse(null));
        json.set("cacheRelease", watch.release().map(WatchJson::release).orElse(null));
        json.set("batch", watch.batch().map(WatchJson::batch).orElse(null));
        return json;
    }

    private static ObjectNode batch(RankWatch.Batch batch) {
        ObjectNode json = NODES.objectNode();
        json.put("sequence", batch.sequence());
        json.put("job", batch.job());
        json.put("samples", batch.samples());
        json.put("microBatch", batch.microBatch());
        json.put("most", batch.most().isPresent() ? (Integer) batch.most().getAsInt() : null);
        json.put("baseBytes", bytes(batch.base()));
        return json;
    }

    private static ObjectNode microBatches(RankWatch.MicroBatches microBatches) {
        ObjectNode json = NODES.objectNode();
        json.put("now", microBatches.now());
        ArrayNode sizes = json.putArray("sizes");
        for (RankWatch.MicroBatchPeaks size : microBatches.sizes()) {
            ArrayNode phases = sizes.addObject().put("samples", size.samples()).putArray("phases");
            size.phases().forEach(peak -> phases.add(phase(peak)));
        }
        return json;
    }

    private static ObjectNode phase(PhasePeak peak) {
        ObjectNode json = NODES.objectNode();
        json.put("phase", peak.phase().name());
        json.put("peakReservedBytes", bytes(peak.reserved()));
        json.put("peakAllocatedBytes", bytes(peak.allocated()));
        return json;
    }

    private static void putAllocator(ObjectNode json, Allocator allocator) {
        json.put("allocations", number(allocator.allocations()));
        json.put("allocationsPerStep", number(allocator.allocationsPerStep()));
        json.put("fragmentationBasisPoints", basisPoints(allocator.fragmentation()));
        json.put("roundingWasteBasisPoints", basisPoints(allocator.roundingWaste()));
        json.put("retries", number(allocator.retries()));
        json.put("refusals", number(allocator.refusals()));
    }

    private static ObjectNode leak(Leak leak) {
        ObjectNode json = NODES.objectNode();
        json.put("state", leak.state().name().toLowerCase(Locale.ROOT));
        json.put("growthPerStepBytes", number(leak.bytesPerStep()));
        json.put("confidenceBasisPoints", basisPoints(leak.confidence()));
        json.put("points", leak.points());
        return json;
    }

    private static ObjectNode snapshot(Snapshot snapshot) {
        ObjectNode json = NODES.objectNode();
        json.put("step", snapshot.step());
        json.put("allocatedBytes", bytes(snapshot.allocated()));
        json.put("reservedBytes", bytes(snapshot.reserved()));
        json.put("inactiveSplitBytes", bytes(snapshot.inactiveSplit()));
        json.put("largestFreeBytes", bytes(snapshot.largestFree()));
        json.put("segments", number(snapshot.segments()));
        return json;
    }

    private static ObjectNode release(RankWatch.CacheRelease release) {
        ObjectNode json = NODES.objectNode();
        json.put("step", release.step());
        json.put("beforeBytes", release.before().value());
        json.put("afterBytes", release.after().value());
        json.put("gainBytes", release.gain().value());
        return json;
    }

    private static @Nullable Long number(OptionalLong number) {
        return number.isPresent() ? (Long) number.getAsLong() : null;
    }

    private static @Nullable Long bytes(Optional<MemoryBytes> amount) {
        return amount.map(MemoryBytes::value).orElse(null);
    }

    private static @Nullable Integer basisPoints(Optional<Share> share) {
        return share.map(Share::basisPoints).orElse(null);
    }
}
