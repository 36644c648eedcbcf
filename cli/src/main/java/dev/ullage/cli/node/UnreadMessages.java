package dev.ullage.cli.node;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Marker;

/**
 * One warning for each kind of message that this version cannot read, in the place of an error with a stack for each
 * message: while nodes are upgraded one by one, newer ones may say what older ones do not know, again and again. Such a
 * message is dropped, which every sender reckons with. Named in {@code logback.xml}.
 */
public final class UnreadMessages extends TurboFilter {
    private static final String DESERIALIZER = "org.apache.pekko.remote.artery.Deserializer";
    private static final Pattern FAILED = Pattern.compile("message from \\[(.*?)] with .*manifest \\[(.*?)]");
    private static final int MAX_SAID = 200;

    private final Set<String> said = ConcurrentHashMap.newKeySet();

    @Override
    public FilterReply decide(
            @Nullable Marker marker,
            Logger logger,
            Level level,
            @Nullable String format,
            Object @Nullable [] parameters,
            @Nullable Throwable cause) {
        if (!logger.getName().equals(DESERIALIZER) || format == null || cause == null) {
            return FilterReply.NEUTRAL;
        }
        Matcher failed = FAILED.matcher(format);
        if (!failed.find()) {
            return FilterReply.NEUTRAL;
        }
        String why = String.valueOf(cause.getMessage()).lines().findFirst().orElse("");
        if (said.size() < MAX_SAID && said.add(failed.group(2) + " " + why)) {
            logger.getLoggerContext()
                    .getLogger(UnreadMessages.class)
                    .warn(
                            "message={} from={} reason=\"dropped, and not said again: this version cannot read it;"
                                    + " where that node has a newer version, that is why: {}\"",
                            failed.group(2),
                            failed.group(1),
                            why);
        }
        return FilterReply.DENY;
    }
}
