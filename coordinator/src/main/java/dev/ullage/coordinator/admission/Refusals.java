package dev.ullage.coordinator.admission;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.protocol.ToCoordinator.SubmitRequest;
import dev.ullage.common.protocol.ToOperator.NotKnown;
import dev.ullage.common.protocol.ToOperator.RequestRefused;
import dev.ullage.coordinator.admission.AdmissionDesk.Cluster;
import dev.ullage.coordinator.admission.Entry.Stage;
import dev.ullage.coordinator.planning.UnknownName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;

/** Why a request is not taken, all reasons at once. Pure. */
final class Refusals {
    private Refusals() {}

    /** The answer about a job that asks for nothing: none is known, or it is over. */
    static RequestRefused noneOf(JobId job, NavigableMap<JobId, Entry> all) {
        Entry known = all.get(job);
        if (known != null) {
            return new RequestRefused(List.of("job %s is over already: %s"
                    .formatted(job, known.note().orElse(known.stage().label()))));
        }
        List<JobId> asking = all.values().stream()
                .filter(entry -> !entry.isOver())
                .map(Entry::job)
                .toList();
        return new RequestRefused(
                List.of(UnknownName.text("request of job", job.value(), asking)), Optional.of(new NotKnown("job")));
    }

    /**
     * @param known what is known of the job already
     * @param all that are known
     * @param max how many there may be
     */
    static List<String> of(
            SubmitRequest message, Optional<Entry> known, Collection<Entry> all, int max, Cluster cluster) {
        JobRequest request = message.request();
        List<String> reasons = new ArrayList<>();
        boolean isNew = known.isEmpty();
        long requests = all.stream().filter(entry -> !entry.isOver()).count();
        if (isNew && requests >= max) {
            reasons.add("the cluster has %s, the most that it takes (ullage.coordinator.queue.max-requests)"
                    .formatted(Counts.of(requests, "request")));
        }
        request.contradiction().ifPresent(reasons::add);
        known.filter(entry -> entry.submitter().isEmpty() && message.room().isEmpty())
                .filter(entry -> entry.reservation()
                        .map(room -> !JobRooms.suits(room, request))
                        .orElse(entry.request().ranks() != request.ranks()))
                .ifPresent(entry -> reasons.add("job %s runs already, with %s, and is not the one that asks for %s"
                        .formatted(request.job(), entry.request().text(), request.text())));
        boolean isToBePlaced = isNew || known.get().is(Stage.WAITING);
        boolean isOther = isNew || !known.get().request().isPlacedLike(request);
        known.filter(entry ->
                        isOther && entry.is(Stage.PLACED) && entry.submitter().isPresent())
                .ifPresent(entry -> reasons.add("job %s is placed, with %s; it can ask for other room once it has ended"
                        .formatted(request.job(), entry.request().text())));
        if (isToBePlaced && isOther) {
            GangTexts.whyNever(request, Offers.of(cluster.view(), cluster.draining(), List.of()))
                    .ifPresent(why -> reasons.add("this can never fit: " + why));
        }
        return reasons;
    }
}
