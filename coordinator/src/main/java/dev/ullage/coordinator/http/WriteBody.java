package dev.ullage.coordinator.http;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.OperatorRecord.Drain;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.DrainNode;
import dev.ullage.common.protocol.ToCoordinator.ReleaseCaches;
import dev.ullage.common.protocol.ToCoordinator.SetLimit;
import dev.ullage.common.protocol.ToCoordinator.SetPolicy;
import dev.ullage.common.protocol.ToCoordinator.SetPriority;
import dev.ullage.common.protocol.ToCoordinator.SetReserve;
import dev.ullage.common.protocol.ToCoordinator.SetShare;
import dev.ullage.common.protocol.ToCoordinator.UndrainNode;
import dev.ullage.common.protocol.ToOperator;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorRef;

/**
 * The body of a write, read.
 *
 * @param problems everything that is wrong with it; then there is no message
 * @param message what the coordinator is asked, given whom it answers
 */
record WriteBody(List<String> problems, Function<ActorRef<ToOperator>, ToCoordinator> message) {

    /** How the body of each write is read, by the last part of its path under {@code /api/v1/}. */
    static NavigableMap<String, Function<String, WriteBody>> all() {
        NavigableMap<String, Function<String, WriteBody>> all = new TreeMap<>();
        all.put("reserve", WriteBody::reserve);
        all.put("share", WriteBody::share);
        all.put("policy", WriteBody::policy);
        all.put("priority", WriteBody::priority);
        all.put("limit", WriteBody::limit);
        all.put("drain", WriteBody::drain);
        all.put("undrain", WriteBody::undrain);
        all.put("release", WriteBody::release);
        return Collections.unmodifiableNavigableMap(all);
    }

    private static WriteBody of(RequestBody body, Function<ActorRef<ToOperator>, ToCoordinator> message) {
        return new WriteBody(body.problems(), message);
    }

    private static RequestBody parse(String text, String... fields) {
        return RequestBody.parse(text, new TreeSet<>(List.of(fields)));
    }

    private static WriteBody reserve(String text) {
        RequestBody body = parse(text, "reserve", "device");
        Share reserve = body.share("reserve");
        Optional<DeviceId> device = body.optionalName("device", DeviceId::new);
        return of(body, replyTo -> new SetReserve(device, reserve, replyTo));
    }

    private static WriteBody share(String text) {
        RequestBody body = parse(text, "job", "rank", "share");
        Optional<JobId> job = body.name("job", JobId::new);
        OptionalInt rank = body.optionalNumber("rank");
        Share share = body.share("share");
        return of(body, replyTo -> new SetShare(job.orElseThrow(), rank, share, replyTo));
    }

    private static WriteBody policy(String text) {
        RequestBody body = parse(text, "job", "policy");
        Optional<JobId> job = body.name("job", JobId::new);
        body.require("policy");
        Optional<String> policy = body.optionalName("policy", Function.identity());
        return of(body, replyTo -> new SetPolicy(job.orElseThrow(), policy, replyTo));
    }

    private static WriteBody priority(String text) {
        RequestBody body = parse(text, "job", "priority");
        Optional<JobId> job = body.name("job", JobId::new);
        body.require("priority");
        Optional<Priority> priority = body.optionalName("priority", Priority::of);
        return of(body, replyTo -> new SetPriority(job.orElseThrow(), priority, replyTo));
    }

    private static WriteBody limit(String text) {
        RequestBody body = parse(text, "job", "rank", "limit");
        Optional<JobId> job = body.name("job", JobId::new);
        body.requireValue("rank");
        OptionalInt rank = body.optionalNumber("rank");
        body.require("limit");
        Optional<MemoryBytes> limit = body.optionalSize("limit");
        return of(body, replyTo -> new SetLimit(job.orElseThrow(), rank.orElseThrow(), limit, replyTo));
    }

    private static WriteBody drain(String text) {
        RequestBody body = parse(text, "node", "reason", "by");
        Optional<NodeId> node = body.name("node", NodeId::new);
        Optional<String> reason = body.optionalName("reason", Drain::requireReason);
        Optional<String> by = body.optionalName("by", Drain::requireBy);
        return of(body, replyTo -> new DrainNode(node.orElseThrow(), reason, by, replyTo));
    }

    private static WriteBody undrain(String text) {
        RequestBody body = parse(text, "node", "by");
        Optional<NodeId> node = body.name("node", NodeId::new);
        Optional<String> by = body.optionalName("by", Drain::requireBy);
        return of(body, replyTo -> new UndrainNode(node.orElseThrow(), by, replyTo));
    }

    private static WriteBody release(String text) {
        RequestBody body = parse(text, "job", "rank");
        Optional<JobId> job = body.name("job", JobId::new);
        OptionalInt rank = body.optionalNumber("rank");
        return of(body, replyTo -> new ReleaseCaches(job.orElseThrow(), rank, replyTo));
    }
}
