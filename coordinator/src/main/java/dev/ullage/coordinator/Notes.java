package dev.ullage.coordinator;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.coordinator.CoordinatorEffect.Note;
import dev.ullage.coordinator.planning.DevicePlan;
import dev.ullage.coordinator.planning.PlanOutcome.Vetoed;
import dev.ullage.coordinator.rollout.Rollout;
import java.time.Instant;

/** What decisions read like in the log: one line each, with their inputs and why. Pure. */
final class Notes {
    private Notes() {}

    /** @param revision 0 when it is not on its way */
    static Note planned(DevicePlan plan, CoordinatorToken token, long revision) {
        return Note.info(
                "planned: device={} token={} revision={} reserve={} limits={} reason={}",
                plan.device(),
                token,
                revision,
                plan.reserve(),
                plan.limits().stream()
                        .map(limit -> limit.instance().rank() + "=" + limit.limits())
                        .toList(),
                plan.reason());
    }

    static Note progress(Rollout rollout, String token, Instant now) {
        return Note.info(
                "rollout {}: device={} token={} revision={} millis={} reason={}",
                rollout.state(),
                rollout.device(),
                token,
                rollout.revision(),
                rollout.status(now).millis(),
                rollout.explain());
    }

    static Note heldBack(Vetoed vetoed) {
        return Note.warn(
                "plan held back: device={} rule={} reason={}",
                vetoed.device(),
                vetoed.veto().rule(),
                vetoed.veto().reason());
    }

    static Note outOfMemory(JobDirective directive, CoordinatorToken token) {
        return Note.warn(
                "out of memory: job={} sequence={} step={} level={} restart={} token={} reason={}",
                directive.job(),
                directive.sequence(),
                directive.step(),
                directive.level(),
                directive.restart(),
                token,
                directive.cause().reason());
    }

    static Note batchShares(JobDirective order, CoordinatorToken token) {
        return Note.info(
                "batch shares: job={} sequence={} token={} reason={}",
                order.job(),
                order.sequence(),
                token,
                order.cause().reason());
    }

    /** An out-of-memory move in a sentence. */
    static String move(JobDirective directive) {
        return "move %d at step %d: %s, restart %s: %s"
                .formatted(
                        directive.sequence(),
                        directive.step(),
                        directive.level(),
                        directive.restart(),
                        directive.cause().reason());
    }
}
