package dev.ullage.common.protocol;

import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.NeedsRestart;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankEnforcement;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.RankWatch;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a rank last said of itself. Soft: lost with the worker, said again by the rank.
 *
 * @param enforcedBy what holds it to its limit: by its newest confirmation, or from outside it as its worker found
 * @param connected whether its client has a connection now; a process may live without one
 * @param ageMillis since anything was heard from it, when this was sent
 * @param needsRestart the limit it cannot take while it runs, by its newest confirmation
 * @param watch what watching its allocator has come to; an older worker or client does not say
 * @param enforcement what its worker found out about how it is held to its limit; an older worker does not say
 */
public record RankSample(
        RankInstance instance,
        RankFacts facts,
        Activity activity,
        RankUse use,
        EnforcedBy enforcedBy,
        boolean connected,
        long ageMillis,
        Optional<NeedsRestart> needsRestart,
        Optional<RankWatch> watch,
        Optional<RankEnforcement> enforcement) {

    /** Of a rank that is not watched and needs no restart. */
    public RankSample(
            RankInstance instance,
            RankFacts facts,
            Activity activity,
            RankUse use,
            EnforcedBy enforcedBy,
            boolean connected,
            long ageMillis) {
        this(
                instance,
                facts,
                activity,
                use,
                enforcedBy,
                connected,
                ageMillis,
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    /** The same with what only its worker can tell. */
    public RankSample heldBy(EnforcedBy rung, RankEnforcement how) {
        return new RankSample(
                instance, facts, activity, use, rung, connected, ageMillis, needsRestart, watch, Optional.of(how));
    }

    /** The same of a rank that only a restart can bring under its newest order, as its worker found. */
    public RankSample needing(NeedsRestart restart) {
        return new RankSample(
                instance,
                facts,
                activity,
                use,
                enforcedBy,
                connected,
                ageMillis,
                Optional.of(restart),
                watch,
                enforcement);
    }

    /** Whether the other says the same, however long ago it was heard. */
    public boolean isSameButForItsAge(RankSample other) {
        return equals(new RankSample(
                other.instance,
                other.facts,
                other.activity,
                other.use,
                other.enforcedBy,
                other.connected,
                ageMillis,
                other.needsRestart,
                other.watch,
                other.enforcement));
    }

    /** Where in its training a rank is; the step is unknown when it does not count them. */
    public record Activity(Phase phase, OptionalLong step) {}
}
