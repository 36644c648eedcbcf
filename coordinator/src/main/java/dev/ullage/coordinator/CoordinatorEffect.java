package dev.ullage.coordinator;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.common.protocol.ToWorker.RankLimit;
import dev.ullage.common.protocol.TurnPlan;
import dev.ullage.coordinator.admission.GangAttempt.Send;
import dev.ullage.coordinator.decisions.Decision;
import dev.ullage.coordinator.rollout.Rollout;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** What {@link CoordinatorLogic} wants done. Whoever performs it knows how a node is reached and where a log goes. */
public sealed interface CoordinatorEffect {

    /** Ask a worker to obey this token and to report. */
    record Learn(NodeId worker, CoordinatorToken token) implements CoordinatorEffect {}

    /** Send a worker a plan for one of its devices. */
    record Desire(
            NodeId worker,
            CoordinatorToken token,
            long revision,
            DeviceId device,
            Share reserve,
            List<RankLimit> limits,
            Optional<TurnPlan> turns)
            implements CoordinatorEffect {
        public Desire {
            limits = List.copyOf(limits);
        }

        static Desire of(NodeId worker, Rollout rollout, CoordinatorToken token) {
            List<RankLimit> limits = rollout.plan().limits().stream()
                    .map(limit -> new RankLimit(limit.instance(), limit.limits(), limit.share()))
                    .toList();
            return new Desire(
                    worker,
                    token,
                    rollout.revision(),
                    rollout.device(),
                    rollout.plan().reserve(),
                    limits,
                    rollout.plan().turns());
        }
    }

    /** Send a worker what the ranks of a job are to do after one ran out of memory. */
    record Direct(NodeId worker, CoordinatorToken token, JobDirective directive) implements CoordinatorEffect {}

    /** Ask a worker for the caches of some of its ranks. */
    record Release(NodeId worker, CoordinatorToken token, List<RankInstance> ranks) implements CoordinatorEffect {
        public Release {
            ranks = List.copyOf(ranks);
        }
    }

    /** Tell a worker what to do about a job's part of one of its devices. */
    record Room(CoordinatorToken token, Send send) implements CoordinatorEffect {}

    /** Keep what was decided and from what. */
    record Recorded(Decision decision) implements CoordinatorEffect {}

    /**
     * Something was decided, or is not as it should be; one line for the log.
     *
     * @param format with a {@code {}} for each argument
     */
    record Note(Severity severity, String format, List<Object> arguments) implements CoordinatorEffect {
        public Note {
            arguments = List.copyOf(arguments);
        }

        static Note info(String format, Object... arguments) {
            return new Note(Severity.INFO, format, Arrays.asList(arguments));
        }

        static Note warn(String format, Object... arguments) {
            return new Note(Severity.WARN, format, Arrays.asList(arguments));
        }
    }

    /** How loudly a {@link Note} is to be said. */
    enum Severity {
        INFO,
        WARN
    }
}
