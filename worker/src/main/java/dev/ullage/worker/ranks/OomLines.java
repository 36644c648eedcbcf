package dev.ullage.worker.ranks;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.OomKind;
import dev.ullage.common.model.OomLevel;
import dev.ullage.common.model.Phase;
import dev.ullage.common.protocol.BatchShares;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.common.protocol.JobDirective.Cause;
import dev.ullage.common.protocol.JobDirective.Sizes;
import dev.ullage.common.protocol.OomReport.Figures;
import dev.ullage.common.protocol.OomReport.Means;
import dev.ullage.worker.ranks.RankCodec.Fields;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** The lines about running out of memory: {@code oom}, {@code directive} and {@code directive-applied}. */
final class OomLines {
    private OomLines() {}

    static RankMessage ranOut(Fields fields) {
        String phase = fields.text("phase");
        return RankCodec.phase(phase)
                .<RankMessage>map(known -> ranOut(fields, known))
                .orElseGet(() ->
                        new RankMessage.NotKnown(RankCodec.shown("phase of an oom", phase), OptionalLong.empty()));
    }

    private static RankMessage.RanOut ranOut(Fields fields, Phase phase) {
        return new RankMessage.RanOut(
                fields.number("sequence"),
                fields.number("step"),
                phase,
                fields.optionalText("kind").map(OomLines::kind).orElse(OomKind.UNKNOWN),
                new Figures(
                        fields.optionalBytes("requestedBytes"),
                        fields.optionalBytes("baseBytes"),
                        fields.optionalBytes("allocatedBytes"),
                        fields.optionalBytes("reservedBytes"),
                        fields.optionalBytes("unusedBytes"),
                        fields.optionalBytes("limitBytes")),
                new Means(
                        size(fields, "microBatch"),
                        size(fields, "batch"),
                        levels(fields, "levels"),
                        fields.flag("retry")));
    }

    static RankMessage.DirectiveApplied applied(Fields fields) {
        Fields said = fields.object("directive")
                .orElseThrow(() -> new IllegalArgumentException("directive must be an object, is absent"));
        return new RankMessage.DirectiveApplied(directive(said), fields.optionalBytes("usedBytes"));
    }

    /** What a rank gives back of a directive; empty when only a newer worker knows its level. */
    static Optional<JobDirective> directive(Fields fields) {
        long sequence = fields.number("sequence");
        if (sequence < 1) {
            throw new IllegalArgumentException("sequence must be 1 or more, is " + sequence);
        }
        return level(fields.text("level"))
                .map(level -> new JobDirective(
                        new JobId(fields.text("job")),
                        sequence,
                        fields.number("step"),
                        level,
                        new Sizes(size(fields, "microBatch"), size(fields, "accumulation")),
                        fields.flag("restart"),
                        new Cause(
                                fields.count("rank"),
                                fields.optionalBytes("usedBytes"),
                                levels(fields, "done"),
                                fields.optionalText("reason").orElse("")),
                        fields.object("shares").map(OomLines::shares)));
    }

    private static BatchShares shares(Fields fields) {
        return new BatchShares(
                fields.number("since"), fields.count("orders"), fields.count("rounds"), fields.counts("samples"));
    }

    static void put(ObjectNode json, JobDirective directive) {
        json.put("job", directive.job().value())
                .put("sequence", directive.sequence())
                .put("step", directive.step())
                .put("level", directive.level().name());
        putSize(json, "microBatch", directive.sizes().microBatch());
        putSize(json, "accumulation", directive.sizes().accumulation());
        json.put("restart", directive.restart()).put("rank", directive.cause().rank());
        json.put("usedBytes", directive.cause().used().map(MemoryBytes::value).orElse(null));
        var done = json.putArray("done");
        directive.cause().done().forEach(level -> done.add(level.name()));
        json.put("reason", directive.cause().reason());
        directive.shares().ifPresent(shares -> {
            ObjectNode line = json.putObject("shares");
            line.put("since", shares.since()).put("orders", shares.orders()).put("rounds", shares.rounds());
            ArrayNode samples = line.putArray("samples");
            shares.samples().forEach(samples::add);
        });
    }

    private static void putSize(ObjectNode json, String name, OptionalInt size) {
        json.put(name, size.isPresent() ? (Integer) size.getAsInt() : null);
    }

    private static OptionalInt size(Fields fields, String name) {
        OptionalInt size = fields.countIfKnown(name);
        if (size.isPresent() && size.getAsInt() < 1) {
            throw new IllegalArgumentException(name + " must be 1 or more, is " + size.getAsInt());
        }
        return size;
    }

    /** A kind that only a newer worker knows is an error whose cause this one does not know. */
    private static OomKind kind(String name) {
        for (OomKind kind : OomKind.values()) {
            if (kind.name().equals(name)) {
                return kind;
            }
        }
        return OomKind.UNKNOWN;
    }

    /** A level that only a newer worker knows is none that this one could order. */
    private static List<OomLevel> levels(Fields fields, String name) {
        List<OomLevel> levels = new ArrayList<>();
        for (String text : fields.texts(name)) {
            level(text).filter(level -> !levels.contains(level)).ifPresent(levels::add);
        }
        return levels;
    }

    private static Optional<OomLevel> level(String name) {
        for (OomLevel level : OomLevel.values()) {
            if (level.name().equals(name)) {
                return Optional.of(level);
            }
        }
        return Optional.empty();
    }
}
