package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.protocol.Evenness;
import dev.ullage.common.protocol.Evenness.FarDevice;
import dev.ullage.common.protocol.Evenness.JobEvenness;
import dev.ullage.common.protocol.Evenness.MoveSuggestion;
import dev.ullage.common.protocol.Evenness.PhaseSkew;
import dev.ullage.common.protocol.Evenness.ShareProposal;
import java.util.List;

/** How evenly ranks and devices are used, as the field {@code evenness} of {@link StatusJson}; by the same rules. */
final class EvennessJson {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private EvennessJson() {}

    static ObjectNode of(Evenness evenness) {
        ObjectNode json = NODES.objectNode();
        json.put("mode", evenness.mode());
        ArrayNode jobs = json.putArray("jobs");
        evenness.jobs().forEach(job -> jobs.add(job(job)));
        ArrayNode devices = json.putArray("devices");
        evenness.devices().forEach(device -> devices.add(device(device)));
        ArrayNode moves = json.putArray("moves");
        evenness.moves().forEach(move -> moves.add(move(move)));
        return json;
    }

    private static ObjectNode job(JobEvenness job) {
        ObjectNode json = NODES.objectNode();
        json.put("job", job.job().value());
        json.put("uneven", job.isUneven());
        ArrayNode skews = json.putArray("skew");
        job.skew().forEach(skew -> skews.add(skew(skew)));
        json.set("samples", job.samples().isEmpty() ? null : numbers(job.samples()));
        json.set("proposal", job.proposal().map(EvennessJson::proposal).orElse(null));
        json.put("explanation", job.explanation());
        return json;
    }

    private static ObjectNode skew(PhaseSkew skew) {
        ObjectNode json = NODES.objectNode();
        json.put("phase", skew.phase().name());
        json.put("percent", skew.percent());
        json.put("rank", skew.rank());
        json.put("peakBytes", skew.most().value());
        json.put("medianBytes", skew.median().value());
        return json;
    }

    private static ObjectNode proposal(ShareProposal proposal) {
        ObjectNode json = NODES.objectNode();
        json.set("samples", numbers(proposal.samples()));
        json.put("rounds", proposal.rounds());
        json.put("fullestBasisPoints", proposal.fullestBasisPoints());
        json.put("thenBasisPoints", proposal.thenBasisPoints());
        return json;
    }

    private static ObjectNode device(FarDevice device) {
        ObjectNode json = NODES.objectNode();
        json.put("node", device.node().value());
        json.put("device", device.device().value());
        json.put("fillBasisPoints", device.fillBasisPoints());
        json.put("meanBasisPoints", device.meanBasisPoints());
        return json;
    }

    private static ObjectNode move(MoveSuggestion move) {
        ObjectNode json = NODES.objectNode();
        json.put("job", move.rank().job().value());
        json.put("rank", move.rank().rank());
        json.put("from", move.from().value());
        json.put("to", move.to().value());
        json.put("needsBytes", move.needs().value());
        json.put("fullerBasisPoints", move.fullerBasisPoints());
        json.put("fullerThenBasisPoints", move.fullerThenBasisPoints());
        json.put("meanBasisPoints", move.meanBasisPoints());
        json.put("meanThenBasisPoints", move.meanThenBasisPoints());
        json.put("text", move.text());
        return json;
    }

    private static ArrayNode numbers(List<Integer> numbers) {
        ArrayNode json = NODES.arrayNode();
        numbers.forEach(json::add);
        return json;
    }
}
