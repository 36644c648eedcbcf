package dev.ullage.coordinator.decisions;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.Share;
import dev.ullage.coordinator.planning.DeviceInput;
import dev.ullage.coordinator.planning.DevicePlan.PlannedLimit;
import dev.ullage.coordinator.planning.LimitPlanner.Decided;
import dev.ullage.coordinator.planning.PlanGuard.Rule;
import dev.ullage.coordinator.planning.PlanOutcome;
import dev.ullage.coordinator.planning.PlanOutcome.Vetoed;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * One decision of the coordinator. It stands alone: nothing before or after it is needed to understand it.
 *
 * @param reason for people, in one line
 * @param planning what it was made from and what it came to; of a plan, carried out or held back
 */
public record Decision(Stamp stamp, Kind kind, Subject subject, String reason, Optional<Planning> planning) {

    /** What was decided. */
    public enum Kind {
        /** A plan to be carried out. */
        PLAN,
        /** A plan that a rule does not let through; once for each time that a device comes to be held back. */
        HELD_BACK,
        /** What an operator asked for, accepted or refused. */
        OPERATOR,
        /** What the ranks of a job are to do after one of them ran out of memory. */
        OUT_OF_MEMORY,
        /** How the batch of a job is shared out over its ranks. */
        BATCH_SHARES;

        /** As it stands in a record: {@code held-back}. */
        public String label() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }

        public static Optional<Kind> find(String label) {
            return Arrays.stream(values())
                    .filter(kind -> kind.label().equals(label))
                    .findFirst();
        }
    }

    /**
     * @param number 1 or more; grows by one with each decision of one start of a coordinator
     * @param at by the clock of the coordinator's node
     */
    public record Stamp(long number, Instant at, CoordinatorToken token) {}

    /**
     * What it is about.
     *
     * @param device empty: no single one
     * @param jobs in order; empty: no single ones
     */
    public record Subject(Optional<DeviceId> device, List<JobId> jobs) {
        public Subject {
            jobs = List.copyOf(jobs);
        }

        public static Subject of(DeviceInput input) {
            List<JobId> jobs = input.ranks().stream()
                    .map(rank -> rank.request().instance().rank().job())
                    .distinct()
                    .toList();
            return new Subject(Optional.of(input.device()), jobs);
        }

        public static Subject of(JobId job) {
            return new Subject(Optional.empty(), List.of(job));
        }
    }

    /** @param revision of the plan; empty: it was held back */
    public record Planning(OptionalLong revision, DeviceInput input, PlannerSettings settings, Outcome outcome) {
        static Planning of(Decided decided, OptionalLong revision, PlannerSettings settings) {
            return new Planning(revision, decided.input(), settings, Outcome.of(decided.outcome()));
        }
    }

    /**
     * What planning came to.
     *
     * @param heldBack the rule that did not let it through
     */
    public record Outcome(Optional<Rule> heldBack, Share reserve, List<PlannedLimit> limits) {
        public Outcome {
            limits = List.copyOf(limits);
        }

        public static Outcome of(PlanOutcome outcome) {
            Optional<Rule> rule =
                    outcome instanceof Vetoed vetoed ? Optional.of(vetoed.veto().rule()) : Optional.empty();
            return new Outcome(rule, outcome.plan().reserve(), outcome.plan().limits());
        }
    }
}
