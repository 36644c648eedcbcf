package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.OperatorRecord.Drain;
import dev.ullage.common.protocol.OperatorRecord.JobWish;
import dev.ullage.common.protocol.OperatorRecord.RankWish;
import dev.ullage.common.protocol.ToOperator.Wishes;
import java.time.Instant;
import java.util.Optional;

/** What operators asked for and no ledger holds, as JSON. Pure. */
final class WishesJson {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private WishesJson() {}

    static ObjectNode of(Wishes wishes) {
        ObjectNode json = NODES.objectNode();
        ArrayNode draining = json.putArray("draining");
        wishes.drains().forEach(drain -> draining.add(drain(drain)));
        ArrayNode jobs = json.putArray("jobs");
        wishes.jobs().forEach(job -> jobs.add(job(job)));
        return json;
    }

    private static ObjectNode drain(Drain drain) {
        ObjectNode json = NODES.objectNode();
        json.put("node", drain.node().value());
        json.put("since", Instant.ofEpochMilli(drain.atMillis()).toString());
        json.put("reason", drain.reason().orElse(null));
        json.put("by", drain.by().orElse(null));
        return json;
    }

    private static ObjectNode job(JobWish wish) {
        ObjectNode json = NODES.objectNode();
        json.put("job", wish.job().value());
        json.put("shareBasisPoints", wish.share().map(Share::basisPoints).orElse(null));
        json.put("policy", wish.policy().orElse(null));
        json.put("priority", wish.priority().map(Priority::label).orElse(null));
        ArrayNode ranks = json.putArray("ranks");
        wish.ranks().forEach(rank -> ranks.add(rank(rank)));
        return json;
    }

    private static ObjectNode rank(RankWish wish) {
        ObjectNode json = NODES.objectNode();
        json.put("rank", wish.rank());
        json.put("shareBasisPoints", wish.share().map(Share::basisPoints).orElse(null));
        json.put("limitBytes", wish.limit().map(MemoryBytes::value).orElse(null));
        return json;
    }

    /** Whether a node is draining; empty when the coordinator is older and does not say. */
    static Optional<Boolean> isDraining(Optional<Wishes> wishes, NodeId node) {
        return wishes.map(
                known -> known.drains().stream().anyMatch(drain -> drain.node().equals(node)));
    }

    /** The limit that an operator set for a rank. */
    static Optional<MemoryBytes> limit(Optional<Wishes> wishes, RankId rank) {
        return wishes.stream()
                .flatMap(known -> known.jobs().stream())
                .filter(job -> job.job().equals(rank.job()))
                .flatMap(job -> job.ranks().stream())
                .filter(one -> one.rank() == rank.rank())
                .flatMap(one -> one.limit().stream())
                .findFirst();
    }
}
