package dev.ullage.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;

/** A job, or one rank of it, as people write it: {@code JOB} or {@code JOB/3}. */
record JobTarget(String job, OptionalInt rank) {
    private static final Pattern JOB_AND_RANK = Pattern.compile("(.+)/(\\d{1,9})");

    static JobTarget of(String text) {
        Matcher matcher = JOB_AND_RANK.matcher(text);
        return matcher.matches()
                ? new JobTarget(matcher.group(1), OptionalInt.of(Integer.parseInt(matcher.group(2))))
                : new JobTarget(text, OptionalInt.empty());
    }

    /** As the API takes it; no rank is null. */
    ObjectNode putInto(ObjectNode body) {
        return body.put("job", job).put("rank", rank.isPresent() ? (Integer) rank.getAsInt() : null);
    }

    static final class Converter implements ITypeConverter<JobTarget> {
        @Override
        public JobTarget convert(String text) {
            return of(text);
        }
    }
}
