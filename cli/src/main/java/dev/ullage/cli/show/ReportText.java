package dev.ullage.cli.show;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.show.TextTable.Cell;
import dev.ullage.common.model.Counts;
import dev.ullage.common.model.MemoryBytes;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/** The report on a job, as text. Pure. What the document has as null is "unknown". */
public final class ReportText {
    private static final String UNKNOWN = "unknown";
    private static final MathContext DIGITS = new MathContext(4, RoundingMode.HALF_EVEN);
    private static final double SECOND = 1_000;
    private static final double MINUTE = 60 * SECOND;
    private static final double HOUR = 60 * MINUTE;

    private final JsonNode report;
    private final Terminal terminal;
    private final StringBuilder text = new StringBuilder();

    private ReportText(JsonNode report, Terminal terminal) {
        this.report = report;
        this.terminal = terminal;
    }

    /** @param report as {@code /api/v1/report} gives it */
    public static String render(JsonNode report, Terminal terminal) {
        ReportText writer = new ReportText(report, terminal);
        writer.scope();
        writer.memory();
        writer.compute();
        writer.business();
        writer.processes();
        return writer.text.toString();
    }

    private void scope() {
        text.append(Style.HEADING.apply(
                        "job " + StatusTable.clean(report.path("job").asText()), terminal))
                .append(": ")
                .append(
                        report.path("running").asBoolean()
                                ? "runs"
                                : "ended " + duration(report.path("endedAgoMillis")) + " ago")
                .append(", began ")
                .append(duration(report.path("beganAgoMillis")))
                .append(" ago; ")
                .append(counted("ranks", "rank"))
                .append(known(report.path("worldSize"), size -> " of " + size.asInt())
                        .orElse(""))
                .append(" on ")
                .append(counted("devices", "device"))
                .append(" of ")
                .append(counted("nodes", "node"))
                .append('\n');
        if (report.path("silentProcesses").asInt() > 0) {
            text.append("  processes that said nothing: ")
                    .append(report.path("silentProcesses").asInt())
                    .append('\n');
        }
        if (report.path("leftOutProcesses").asInt() > 0) {
            text.append("  processes that are not in these figures, because there are too many: ")
                    .append(report.path("leftOutProcesses").asInt())
                    .append('\n');
        }
    }

    private void memory() {
        JsonNode memory = report.path("memory");
        heading("memory");
        line("held of what was promised", share(memory.path("utilisation")));
        line(
                "fragmentation",
                "%s, at its highest %s"
                        .formatted(share(memory.path("fragmentation")), share(memory.path("highestFragmentation"))));
        line("an allocation takes", quantity(memory.path("allocationMicros"), " us"));
        line(
                "allocator",
                "%s served after the cache was given back, %s refused"
                        .formatted(number(memory.path("retries")), number(memory.path("refusals"))));
        if (memory.path("phases").isEmpty()) {
            return;
        }
        TextTable table = new TextTable()
                .text("  PHASE")
                .number("PEAK")
                .number("LIMIT")
                .number("PLAN", 1)
                .number("PEAK OF LIMIT")
                .number("RANK", 2);
        for (JsonNode phase : memory.path("phases")) {
            table.row(List.of(
                    Cell.of("  " + phase.path("phase").asText()),
                    Cell.of(bytes(phase.path("peakBytes"))),
                    Cell.of(bytes(phase.path("limitBytes"))),
                    Cell.of(bytes(phase.path("plannedBytes"))),
                    Cell.of(part(phase.path("peakBytes"), phase.path("limitBytes"))),
                    Cell.of(phase.path("rank").asText())));
        }
        text.append(table.render(terminal));
    }

    private void compute() {
        JsonNode compute = report.path("compute");
        heading("compute");
        line(
                "steps",
                "%s, %s per second".formatted(number(compute.path("steps")), number(compute.path("stepsPerSecond"))));
        line(
                "samples",
                "%s, %s per second"
                        .formatted(number(compute.path("samples")), number(compute.path("samplesPerSecond"))));
        line(
                "waiting for memory",
                "%s of the time (turns %s, limits %s)"
                        .formatted(
                                share(compute.path("waitShare")),
                                duration(compute.path("turnWaitMillis")),
                                duration(compute.path("limitWaitMillis"))));
        line(
                "operations",
                "%s per second, %s in a step per byte held"
                        .formatted(
                                quantity(compute.path("flopsPerSecond"), " FLOP"),
                                quantity(compute.path("flopsPerByte"), " FLOP")));
        if (compute.path("phases").isEmpty()) {
            line("time by phase", UNKNOWN);
            return;
        }
        TextTable table = new TextTable().text("  PHASE").number("TIME").number("SHARE");
        for (JsonNode phase : compute.path("phases")) {
            table.row(List.of(
                    Cell.of("  " + phase.path("phase").asText()),
                    Cell.of(duration(phase.path("millis"))),
                    Cell.of(share(phase.path("share")))));
        }
        text.append(table.render(terminal));
    }

    private void business() {
        JsonNode business = report.path("business");
        heading("loss and cost");
        line("loss", loss(business));
        line("devices in use", duration(business.path("deviceMillis")));
        line(
                "room promised",
                "%s, not held %s, never used at least %s"
                        .formatted(
                                byteHours(business.path("promisedByteHours")),
                                byteHours(business.path("idleByteHours")),
                                byteHours(business.path("neverUsedByteHours"))));
        JsonNode cost = business.path("cost");
        if (!cost.isObject()) {
            line("cost", UNKNOWN + ": no price is set (ullage.http.report.device-hour-price)");
            return;
        }
        String currency = " " + StatusTable.clean(cost.path("currency").asText());
        line(
                "cost",
                "%s by its share of the memory, %s a step; %s had the devices been its alone"
                        .formatted(
                                quantity(cost.path("job"), currency),
                                quantity(cost.path("perStep"), currency),
                                quantity(cost.path("wholeDevices"), currency)));
        line(
                "of that for room",
                "%s not held, %s never used"
                        .formatted(quantity(cost.path("idle"), currency), quantity(cost.path("neverUsed"), currency)));
    }

    private static String loss(JsonNode business) {
        JsonNode points = business.path("loss");
        int leftOut = business.path("lossesLeftOut").asInt();
        String odd = leftOut == 0 ? "" : "; %d were no number or out of range".formatted(leftOut);
        if (points.isEmpty()) {
            return UNKNOWN + odd;
        }
        JsonNode first = points.get(0);
        JsonNode last = points.get(points.size() - 1);
        return "%s at step %s, %s at step %s (rank %s)%s"
                .formatted(
                        number(first.path("loss")),
                        number(first.path("step")),
                        number(last.path("loss")),
                        number(last.path("step")),
                        business.path("lossRank").asText(),
                        odd);
    }

    private void processes() {
        heading("processes");
        TextTable table = new TextTable()
                .number("  RANK")
                .text("NODE", 3)
                .shortenable("DEVICE", 12)
                .text("STATE", 4)
                .number("PEAK")
                .number("LIMIT")
                .number("HELD", 6)
                .number("STEPS", 5)
                .number("STEPS/S", 2)
                .number("WAITING", 1);
        for (JsonNode process : report.path("processes")) {
            table.row(List.of(
                    Cell.of(process.path("rank").asText()),
                    Cell.of(StatusTable.clean(process.path("node").asText())),
                    Cell.of(StatusTable.clean(process.path("device").asText())),
                    Cell.of(process.path("running").asBoolean() ? "runs" : "ended"),
                    Cell.of(bytes(process.path("peakBytes"))),
                    Cell.of(bytes(process.path("limitBytes"))),
                    Cell.of(share(process.path("utilisation"))),
                    Cell.of(number(process.path("steps"))),
                    Cell.of(number(process.path("stepsPerSecond"))),
                    Cell.of(share(process.path("waitShare")))));
        }
        text.append(table.render(terminal));
    }

    // ---- small parts

    private void heading(String name) {
        text.append('\n').append(Style.HEADING.apply(name, terminal)).append('\n');
    }

    private void line(String name, String value) {
        text.append("  %-27s%s\n".formatted(name, value));
    }

    private String counted(String field, String noun) {
        int count = report.path(field).asInt();
        return Counts.of(count, noun);
    }

    private static Optional<String> known(JsonNode value, Function<JsonNode, String> shown) {
        return value.isNumber() ? Optional.of(shown.apply(value)) : Optional.empty();
    }

    private static String or(Optional<String> value) {
        return value.orElse(UNKNOWN);
    }

    private static String share(JsonNode value) {
        return or(known(value, part -> String.format(Locale.ROOT, "%.1f %%", part.doubleValue() * 100)));
    }

    private static String part(JsonNode part, JsonNode whole) {
        return part.isNumber() && whole.isNumber() && whole.doubleValue() > 0
                ? String.format(Locale.ROOT, "%.1f %%", part.doubleValue() / whole.doubleValue() * 100)
                : UNKNOWN;
    }

    private static String bytes(JsonNode value) {
        return or(known(value, amount -> MemoryBytes.of(amount.longValue()).toString()));
    }

    private static String byteHours(JsonNode value) {
        return or(known(value, amount -> MemoryBytes.of((long) amount.doubleValue()) + " h"));
    }

    private static String number(JsonNode value) {
        return or(known(value, ReportText::plain));
    }

    private static String quantity(JsonNode value, String unit) {
        return or(known(value, amount -> plain(amount) + unit));
    }

    /** Whole numbers as they are, others with four digits. */
    private static String plain(JsonNode value) {
        if (value.isIntegralNumber()) {
            return value.asText();
        }
        BigDecimal number = new BigDecimal(value.asText()).round(DIGITS);
        boolean isHandy = number.signum() == 0
                || (number.abs().compareTo(new BigDecimal("0.0001")) >= 0
                        && number.abs().compareTo(new BigDecimal("1000000000")) < 0);
        return isHandy ? number.stripTrailingZeros().toPlainString() : String.format(Locale.ROOT, "%.3e", number);
    }

    private static String duration(JsonNode value) {
        return or(known(value, amount -> {
            double millis = amount.doubleValue();
            if (millis < 2 * MINUTE) {
                return String.format(Locale.ROOT, "%.1f s", millis / SECOND);
            }
            return millis < 2 * HOUR
                    ? String.format(Locale.ROOT, "%.1f min", millis / MINUTE)
                    : String.format(Locale.ROOT, "%.1f h", millis / HOUR);
        }));
    }
}
