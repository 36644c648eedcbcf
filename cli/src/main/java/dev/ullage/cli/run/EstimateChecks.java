package dev.ullage.cli.run;

import dev.ullage.cli.estimate.JobEstimate;
import dev.ullage.cli.run.ClusterDevices.Device;
import dev.ullage.cli.run.ClusterDevices.Host;
import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.Counts;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PlannedNeeds.Need;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Holds an estimate against the launcher and the devices before anything starts. Pure. Refused is an estimate of
 * another number of ranks, and a rank whose upper end its device can never give; what only does not fit now is a
 * warning.
 */
final class EstimateChecks {
    private static final int MOST_NAMED = 4;

    private final JobEstimate estimate;
    private final LaunchRequest request;
    private final RunTerms terms;
    private final List<String> refusals = new ArrayList<>();
    private final List<String> warnings = new ArrayList<>();

    /** @param refusals why it must not start; empty when it may */
    record Findings(List<String> refusals, List<String> warnings) {
        Findings {
            refusals = List.copyOf(refusals);
            warnings = List.copyOf(warnings);
        }
    }

    private EstimateChecks(JobEstimate estimate, LaunchRequest request, RunTerms terms) {
        this.estimate = estimate;
        this.request = request;
        this.terms = terms;
    }

    /** @param verdict what the request came to without an estimate */
    static Findings check(
            JobEstimate estimate,
            LaunchRequest request,
            RunTerms terms,
            RunChecks.Verdict verdict,
            ClusterDevices cluster,
            Optional<Host> here) {
        EstimateChecks checks = new EstimateChecks(estimate, request, terms);
        estimate.assumptions().forEach(line -> checks.warnings.add("estimate: " + line));
        boolean isOfThisSize = checks.ranks(verdict);
        List<DeviceInfo> devices = verdict.devices().orElse(List.of());
        if (isOfThisSize && !devices.isEmpty() && here.isPresent()) {
            checks.onHost(devices, here.get());
        } else if (isOfThisSize && verdict.devices().isEmpty()) {
            checks.inCluster(cluster);
        }
        return new Findings(checks.shortened(), checks.warnings);
    }

    /** Whether the estimate is of as many ranks as will start, as far as anyone knows. */
    private boolean ranks(RunChecks.Verdict verdict) {
        OptionalInt started = started(verdict);
        if (started.isEmpty()) {
            warnings.add(
                    "how many ranks %s starts cannot be told, so the estimate of %d was not held against it: say --ranks"
                            .formatted(request.launcher().label(), estimate.ranks()));
            return true;
        }
        if (started.getAsInt() != estimate.ranks()) {
            refusals.add(otherCount(estimate, request, started.getAsInt()));
            return false;
        }
        return true;
    }

    static String otherCount(JobEstimate estimate, LaunchRequest request, int started) {
        return "the estimate is of %s (tp x pp x cp x dp), %s starts %d"
                .formatted(
                        Counts.of(estimate.ranks(), "rank"), request.launcher().label(), started);
    }

    private OptionalInt started(RunChecks.Verdict verdict) {
        if (terms.ranks().isPresent()) {
            return terms.ranks();
        }
        if (request.size().ranks().isPresent()) {
            return request.size().ranks();
        }
        return request.size().isOneHost() ? verdict.perHost() : OptionalInt.empty();
    }

    /** Every rank is on this host, and its device is known. */
    private void onHost(List<DeviceInfo> devices, Host here) {
        for (int index = 0; index < devices.size(); index++) {
            List<Integer> ranks = new ArrayList<>();
            for (int rank = index; rank < estimate.ranks(); rank += devices.size()) {
                ranks.add(rank);
            }
            here.device(devices.get(index)).filter(device -> !ranks.isEmpty()).ifPresent(device -> on(device, ranks));
        }
    }

    private void on(Device device, List<Integer> ranks) {
        MemoryBytes upper = ranks.stream().map(this::upper).reduce(MemoryBytes.ZERO, MemoryBytes::plus);
        Optional<MemoryBytes> most = device.most();
        if (most.isEmpty()) {
            warnings.add("what " + device.label() + " can give is not known yet");
        } else if (upper.isMoreThan(most.get())) {
            BudgetTerms known = device.terms().orElseThrow();
            refusals.add("%s, but %s can never give more than %s (%s less the reserve of %s)"
                    .formatted(needs(ranks), device.label(), most.get(), known.allocatable(), known.reserve()));
        } else {
            device.free()
                    .filter(upper::isMoreThan)
                    .ifPresent(free -> warnings.add("%s, but %s has %s to promise now; less until others shrink or end"
                            .formatted(needs(ranks), device.label(), free)));
        }
    }

    private String needs(List<Integer> ranks) {
        if (ranks.size() == 1) {
            Need need = estimate.of(ranks.get(0)).highest();
            return "rank %d (stage %d) is estimated at %s, at most %s"
                    .formatted(ranks.get(0), estimate.of(ranks.get(0)).stage(), need.point(), need.upper());
        }
        return "ranks %s are estimated at %s together at most"
                .formatted(
                        String.join(
                                ", ",
                                ranks.stream()
                                        .limit(MOST_NAMED)
                                        .map(String::valueOf)
                                        .toList()),
                        ranks.stream().map(this::upper).reduce(MemoryBytes.ZERO, MemoryBytes::plus));
    }

    private MemoryBytes upper(int rank) {
        return estimate.of(rank).highest().upper();
    }

    /** Which rank will be on which device is not known: the k-th largest need must fit the k-th largest place. */
    private void inCluster(ClusterDevices cluster) {
        List<MemoryBytes> places = new ArrayList<>();
        for (Host host : cluster.hosts()) {
            for (Device device : host.devices()) {
                MemoryBytes place = device.most()
                        .map(most -> most.dividedBy(terms.ranksPerDevice()))
                        .orElse(MemoryBytes.of(Long.MAX_VALUE));
                for (int rank = 0; rank < terms.ranksPerDevice(); rank++) {
                    places.add(place);
                }
            }
        }
        places.sort(Comparator.reverseOrder());
        List<Integer> ranks = new ArrayList<>();
        for (int rank = 0; rank < Math.min(estimate.ranks(), places.size()); rank++) {
            ranks.add(rank);
        }
        ranks.sort(Comparator.comparing(this::upper).reversed());
        for (int i = 0; i < ranks.size(); i++) {
            if (upper(ranks.get(i)).isMoreThan(places.get(i))) {
                MemoryBytes need = upper(ranks.get(i));
                refusals.add("%s %s estimated at %s or more at most each, but only %s of the cluster could"
                                .formatted(
                                        Counts.of(i + 1, "rank"),
                                        Counts.word(i + 1, "is", "are"),
                                        need,
                                        Counts.of(i, "place"))
                        + " ever give a rank that much (the next one: " + places.get(i) + ")");
                return;
            }
        }
    }

    private List<String> shortened() {
        if (refusals.size() <= MOST_NAMED) {
            return refusals;
        }
        List<String> named = new ArrayList<>(refusals.subList(0, MOST_NAMED));
        named.add("and so on for " + Counts.of(refusals.size() - MOST_NAMED, "more device"));
        return named;
    }
}
