package dev.ullage.cli.replay;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.cli.replay.RecordFiles.Found;
import dev.ullage.common.model.Counts;
import dev.ullage.common.model.DeviceId;
import dev.ullage.config.PolicyName;
import dev.ullage.coordinator.decisions.Decision;
import dev.ullage.coordinator.decisions.Decision.Kind;
import dev.ullage.coordinator.decisions.Rerun;
import dev.ullage.coordinator.decisions.Rerun.Difference;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Runs recorded decisions through the planner again, one by one, and tells what that came to. */
final class ReplayReport {
    private static final int SCHEMA = 1;
    private static final int MAX_DIFFERENT = 1_000;

    private final Optional<DeviceId> device;
    private final Optional<PolicyName> policy;
    private final List<Different> different = new ArrayList<>();
    private final Map<Kind, Long> notPlanned = new EnumMap<>(Kind.class);
    private long same;
    private long differ;
    private long otherwiseWorded;

    private record Different(Found found, Rerun rerun) {}

    /**
     * @param device only decisions about it; empty: all
     * @param policy in the place of every rank's own; empty: as recorded
     */
    ReplayReport(Optional<DeviceId> device, Optional<PolicyName> policy) {
        this.device = device;
        this.policy = policy;
    }

    void add(Found found) {
        Decision decision = found.decision();
        if (device.isPresent() && !device.equals(decision.subject().device())) {
            return;
        }
        if (decision.planning().isEmpty()) {
            notPlanned.merge(decision.kind(), 1L, Long::sum);
            return;
        }
        Rerun rerun = Rerun.of(decision.planning().orElseThrow(), policy);
        if (rerun.differences().isEmpty()) {
            same++;
            otherwiseWorded += rerun.isOtherwiseWorded() ? 1 : 0;
            return;
        }
        differ++;
        if (different.size() < MAX_DIFFERENT) {
            different.add(new Different(found, rerun));
        }
    }

    boolean isAllTheSame() {
        return differ == 0;
    }

    String text(RecordFiles files) {
        StringBuilder text = new StringBuilder();
        for (Different one : different) {
            Decision decision = one.found().decision();
            text.append("%s: %s of %s at %s (token %s, number %d)%n"
                    .formatted(
                            one.found().where(),
                            decision.kind().label(),
                            decision.subject().device().map(DeviceId::toString).orElse("no device"),
                            decision.stamp().at(),
                            decision.stamp().token(),
                            decision.stamp().number()));
            for (Difference difference : one.rerun().differences()) {
                text.append("  %s: recorded %s, now %s%n"
                        .formatted(difference.what(), difference.recorded(), difference.now()));
            }
        }
        if (differ > different.size()) {
            text.append("and %d more that differ%n".formatted(differ - different.size()));
        }
        text.append("%s planned again%s: %d the same, %d different%n"
                .formatted(
                        Counts.of(same + differ, "decision"),
                        policy.map(name -> " with policy " + name).orElse(""),
                        same,
                        differ));
        note(text, otherwiseWorded, "of the same with a reason that reads differently");
        notPlanned.forEach((kind, count) -> note(text, count, "of kind " + kind.label() + ", which is no plan"));
        note(text, files.unknown(), "of a kind that this version does not know");
        note(text, files.dropped(), "missing: the coordinator could not write them");
        files.cutOff().forEach(where -> text.append("  the last record is cut off and left out: ")
                .append(where)
                .append('\n'));
        return text.toString();
    }

    private static void note(StringBuilder text, long count, String what) {
        if (count > 0) {
            text.append("  ").append(count).append(' ').append(what).append('\n');
        }
    }

    String json(RecordFiles files) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("schema", SCHEMA);
        json.put("policy", policy.map(PolicyName::label).orElse(null));
        json.put("replayed", same + differ);
        json.put("same", same);
        json.put("different", differ);
        json.put("otherwiseWorded", otherwiseWorded);
        ObjectNode others = json.putObject("notPlanned");
        notPlanned.forEach((kind, count) -> others.put(kind.label(), count));
        json.put("unknown", files.unknown());
        json.put("dropped", files.dropped());
        files.cutOff().forEach(json.putArray("cutOff")::add);
        files.problems().forEach(json.putArray("problems")::add);
        ArrayNode items = json.putArray("differences");
        different.forEach(one -> items.add(item(one)));
        return json.toString();
    }

    private static ObjectNode item(Different one) {
        Decision decision = one.found().decision();
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("where", one.found().where());
        json.put("kind", decision.kind().label());
        json.put("number", decision.stamp().number());
        json.put("time", decision.stamp().at().toString());
        json.put("token", decision.stamp().token().toString());
        json.put("device", decision.subject().device().map(DeviceId::toString).orElse(null));
        ArrayNode differences = json.putArray("differences");
        for (Difference difference : one.rerun().differences()) {
            differences
                    .addObject()
                    .put("what", difference.what())
                    .put("recorded", difference.recorded())
                    .put("now", difference.now());
        }
        return json;
    }
}
