package dev.ullage.coordinator.admission;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.ReservedPart;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * What an attempt knows of one of its parts. Immutable.
 *
 * @param stage as far as reports have shown
 * @param sentAt when its device was last told what the attempt wants; empty: not yet told the newest
 * @param missingSince while reports leave it out although they have shown it: since when; empty: the newest shows it
 */
record GangPart(ReservedPart part, Stage stage, Optional<Instant> sentAt, Optional<Instant> missingSince) {

    /** As far as its device's reports have shown. */
    enum Stage {
        UNKNOWN,
        RESERVED,
        COMMITTED,
        GONE
    }

    static GangPart of(ReservedPart part, Stage stage) {
        return new GangPart(part, stage, Optional.empty(), Optional.empty());
    }

    DeviceId device() {
        return part.device();
    }

    boolean is(Stage one) {
        return stage == one;
    }

    /** Something else is wanted of its device from now on. */
    GangPart untold() {
        return new GangPart(part, stage, Optional.empty(), Optional.empty());
    }

    GangPart told(Instant now) {
        return new GangPart(part, stage, Optional.of(now), missingSince);
    }

    GangPart at(Stage shown) {
        return new GangPart(part, shown, sentAt, Optional.empty());
    }

    GangPart missing(Instant now) {
        return new GangPart(part, stage, sentAt, Optional.of(missingSince.orElse(now)));
    }

    boolean isDue(Instant now, Duration resendAfter) {
        return sentAt.filter(sent -> now.isBefore(sent.plus(resendAfter))).isEmpty();
    }

    boolean isMissingFor(Duration time, Instant now) {
        return missingSince.filter(since -> !now.isBefore(since.plus(time))).isPresent();
    }
}
