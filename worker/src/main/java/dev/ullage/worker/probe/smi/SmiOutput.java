package dev.ullage.worker.probe.smi;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Tells by its text which output of the tool a recording is, and has it read. Pure. */
public final class SmiOutput {
    private static final Pattern ERROR = Pattern.compile("(?i)unable to determine the device handle for.*"
            + "|no devices were found.*|.*nvidia-smi has failed because.*|failed to initialize nvml.*"
            + "|.*insufficient permissions.*|.*is not a valid field to query.*");
    private static final Pattern LISTED = Pattern.compile("\\s*GPU \\d+: .*\\(UUID: .*");
    private static final int MAX_PROBLEMS = 16;
    private static final String SEVERAL =
            "the text has several outputs, and only that of -L is read; give each a file of its own";

    private SmiOutput() {}

    /** Never throws: what cannot be read is a problem of the report. */
    public static SmiReport parse(String text) {
        List<String> lines = text.lines().map(String::strip).toList();
        if (text.contains("<nvidia_smi_log")) {
            return SmiXml.parse(text);
        }
        if (lines.stream().anyMatch(LISTED.asMatchPredicate())) {
            SmiReport list = SmiList.parse(lines);
            return SmiTable.isOne(lines) ? list.with(SEVERAL) : list;
        }
        if (SmiTable.isOne(lines)) {
            return SmiTable.parse(lines);
        }
        boolean hasEnd = text.endsWith("\n") || text.endsWith("\r");
        return SmiCsv.parse(lines, hasEnd).orElseGet(() -> messages(lines));
    }

    /** Lines in which the tool says why there is nothing else; each is kept. */
    static List<String> errors(List<String> lines) {
        return lines.stream()
                .map(String::strip)
                .filter(line -> {
                    Matcher error = ERROR.matcher(line);
                    return error.matches() && !line.matches("[|\\[].*") && !line.contains(", ");
                })
                .limit(MAX_PROBLEMS)
                .map(SmiAmount::words)
                .toList();
    }

    private static SmiReport messages(List<String> lines) {
        List<String> errors = errors(lines);
        return errors.isEmpty()
                ? SmiReport.nothing("no output of nvidia-smi that can be read: wanted is a table, -q -x, -L, or"
                        + " --query-gpu or --query-compute-apps as CSV with its header line")
                : new SmiReport(Optional.empty(), List.of(), false, errors);
    }
}
