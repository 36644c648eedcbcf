package dev.ullage.config;

import dev.ullage.common.model.Share;
import java.util.Locale;

/**
 * Where it is known from what a job holds in its burst and outside of it, for jobs that do not say so themselves.
 *
 * @param slack what is added to what was observed
 */
public record TurnNeedSettings(Source source, Share slack) {

    /** What counts beside the settings of the job, which always win. */
    public enum Source {
        /** Nothing: a job that does not say what it needs takes no turns. */
        DECLARED,
        /** What each phase of its last steps allocated. */
        OBSERVED;

        /** As the settings spell it. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public static TurnNeedSettings defaults() {
        return new TurnNeedSettings(Source.DECLARED, Share.ofPercent(10));
    }

    public boolean areObserved() {
        return source == Source.OBSERVED;
    }
}
