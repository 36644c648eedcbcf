package dev.ullage.coordinator.planning.balance;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Which requests are typical, and how frequent each is. Immutable.
 *
 * @param entries in descending frequency, equal ones in the order of arrival; frequencies add up to 1
 */
public record RequestMix(List<Entry> entries) {
    public RequestMix {
        entries = List.copyOf(entries);
    }

    /** @param frequency 0 to 1 */
    public record Entry(PlacementRequest request, double frequency) {}

    /** Of all these requests, with what each came how often. */
    public static RequestMix of(List<PlacementRequest> requests) {
        Map<PlacementRequest, Integer> counts = new LinkedHashMap<>();
        requests.forEach(request -> counts.merge(request, 1, Integer::sum));
        return ofCounts(counts);
    }

    static RequestMix ofCounts(Map<PlacementRequest, Integer> counts) {
        double all = counts.values().stream().mapToLong(Integer::longValue).sum();
        List<Entry> entries = new ArrayList<>();
        counts.forEach((request, count) -> entries.add(new Entry(request, count / all)));
        entries.sort(Comparator.comparingDouble(Entry::frequency).reversed());
        return new RequestMix(entries);
    }

    /**
     * The most frequent requests that together make up {@code share} of all, their frequencies scaled to add up to 1
     * (the "typical pods" of Weng et al., ATC'23).
     */
    public RequestMix covering(double share) {
        List<Entry> kept = new ArrayList<>();
        double sum = 0;
        for (Entry entry : entries) {
            if (sum >= share) {
                break;
            }
            kept.add(entry);
            sum += entry.frequency();
        }
        double covered = sum;
        return new RequestMix(kept.stream()
                .map(entry -> new Entry(entry.request(), entry.frequency() / covered))
                .toList());
    }
}
