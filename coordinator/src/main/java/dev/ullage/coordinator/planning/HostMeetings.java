package dev.ullage.coordinator.planning;

import dev.ullage.common.model.JobId;
import dev.ullage.common.model.NodeId;
import java.util.Collections;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;

/**
 * Hosts on which turns could block each other: a job holds its turn on one host and waits, in a collective, for its
 * rank on another, where a second job holds the turn and waits for its rank on the first. That takes a cycle in the
 * graph of jobs and hosts.
 *
 * <pre>
 *   union-find over jobs, host by host: two jobs of a host that are connected already meet elsewhere too
 * </pre>
 */
final class HostMeetings {
    private final NavigableMap<JobId, JobId> parents = new TreeMap<>();
    private final NavigableMap<JobId, NodeId> firstSeen = new TreeMap<>();

    private HostMeetings() {}

    /**
     * The hosts that would close a cycle with those before them, each with who meets where.
     *
     * @param jobs those that take turns on each host
     */
    static NavigableMap<NodeId, String> closedBy(NavigableMap<NodeId, NavigableSet<JobId>> jobs) {
        HostMeetings meetings = new HostMeetings();
        NavigableMap<NodeId, String> closing = new TreeMap<>();
        jobs.forEach((host, onHost) -> meetings.add(host, onHost, closing));
        return Collections.unmodifiableNavigableMap(closing);
    }

    private void add(NodeId host, NavigableSet<JobId> jobs, NavigableMap<NodeId, String> closing) {
        NavigableMap<JobId, JobId> byRoot = new TreeMap<>();
        for (JobId job : jobs) {
            JobId met = byRoot.putIfAbsent(root(job), job);
            if (met != null) {
                closing.put(
                        host,
                        "jobs %s and %s meet on hosts %s and %s: turns could block each other"
                                .formatted(met, job, firstSeen.getOrDefault(job, host), host));
                return;
            }
        }
        JobId first = root(jobs.first());
        for (JobId job : jobs) {
            parents.put(root(job), first);
            firstSeen.putIfAbsent(job, host);
        }
        parents.put(first, first);
    }

    private JobId root(JobId job) {
        JobId at = job;
        for (JobId parent = parents.get(at); parent != null && !parent.equals(at); parent = parents.get(at)) {
            at = parent;
        }
        return at;
    }
}
