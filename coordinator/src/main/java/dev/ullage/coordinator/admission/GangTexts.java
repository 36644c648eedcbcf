package dev.ullage.coordinator.admission;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.Extent;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.JobRequest.Wanted;
import dev.ullage.common.model.MigSlice;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservedPart;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** What is missing for a request, with the numbers. Pure. */
final class GangTexts {
    private static final int MAX_NAMED = 4;

    private GangTexts() {}

    /** Why there will never be room, whoever ends; empty when there may be, or not enough is known to tell. */
    static Optional<String> whyNever(JobRequest request, Offers offers) {
        Rooms rooms = offers.rooms().atTheirBest();
        if (request.groups().isEmpty()
                || GangPlacer.fits(request, rooms)
                || !offers.unknown().isEmpty()) {
            return Optional.empty();
        }
        if (GangPlacer.fits(request.withoutHostNeed(), rooms)) {
            return Optional.of(
                    request.text() + ": " + named(HostTexts.lacking(request, rooms, HostOffer::most, "has")));
        }
        List<DeviceOffer> best = rooms.devices();
        List<DeviceOffer> wanted = best.stream()
                .filter(offer -> GangPlacer.isWanted(request.wanted(), offer))
                .toList();
        StringBuilder text = new StringBuilder("%s: that is %s%s; of the cluster's %s %s that it accepts"
                .formatted(
                        request.text(),
                        devices(request.devices()),
                        request.wanted().extent() == Extent.SAME_NODE ? " of one node" : "",
                        devices(best.size()),
                        wanted.isEmpty()
                                ? "none is one"
                                : wanted.size() + Counts.word(wanted.size(), " is one", " are ones")));
        if (wanted.isEmpty()) {
            return Optional.of(text + there(request.wanted(), best));
        }
        text.append(", and ");
        text.append(named(kinds(request).stream()
                .map(kind -> "%d of these could ever give %s%s"
                        .formatted(
                                wanted.stream().filter(kind::fits).count(),
                                kind.text(),
                                request.wanted().extent() == Extent.SAME_NODE
                                        ? ", at most %d of one node".formatted(mostOfOneNode(wanted, kind))
                                        : ""))
                .toList()));
        wanted.stream().map(DeviceOffer::most).max(Comparator.naturalOrder()).ifPresent(most -> text.append(
                        "; the most that one can promise is ")
                .append(most));
        return Optional.of(text.toString());
    }

    /** Of what a request names and nothing matches, what there is instead. */
    private static String there(Wanted asked, List<DeviceOffer> devices) {
        StringBuilder text = new StringBuilder();
        asked.node()
                .ifPresent(node -> text.append(
                        list("nodes", devices, offer -> Optional.of(offer.node().value()))));
        asked.model()
                .ifPresent(model -> text.append(list(
                        "models", devices, offer -> Optional.of(offer.info().name()))));
        asked.mig()
                .ifPresent(mig -> text.append(list(
                        "MIG profiles", devices, offer -> offer.info().mig().flatMap(MigSlice::profile))));
        return text.toString();
    }

    private static String list(
            String what, List<DeviceOffer> devices, Function<DeviceOffer, Optional<String>> property) {
        List<String> all = devices.stream()
                .flatMap(offer -> property.apply(offer).stream())
                .distinct()
                .sorted()
                .toList();
        return "; %s there are: %s".formatted(what, all.isEmpty() ? "none" : named(all));
    }

    /** What it asks of devices, each once, the hardest first. */
    private static List<Bundle> kinds(JobRequest request) {
        return Bundle.of(request).stream()
                .distinct()
                .sorted(Comparator.comparingLong(Bundle::weight).reversed())
                .toList();
    }

    private static String needs(JobRequest request) {
        List<Bundle> all = Bundle.of(request);
        return named(kinds(request).stream()
                .map(kind -> {
                    int count = (int) all.stream().filter(kind::equals).count();
                    return devices(count) + " with " + kind.text() + (count == 1 ? "" : " each");
                })
                .toList());
    }

    /** How many devices have it now: of several kinds, of each. */
    private static String have(JobRequest request, List<DeviceOffer> wanted) {
        boolean isOneNode = request.wanted().extent() == Extent.SAME_NODE;
        List<Bundle> kinds = kinds(request);
        return named(kinds.stream()
                .map(kind -> {
                    long have = wanted.stream().filter(kind::fits).count();
                    return "%d %s %s now%s"
                            .formatted(
                                    have,
                                    Counts.word(have, "has", "have"),
                                    kinds.size() == 1 ? "that" : kind.text(),
                                    isOneNode ? ", at most %d on one node".formatted(mostOfOneNode(wanted, kind)) : "");
                })
                .toList());
    }

    private static int mostOfOneNode(List<DeviceOffer> devices, Bundle bundle) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        devices.stream()
                .filter(bundle::fits)
                .forEach(offer -> counts.merge(offer.node().value(), 1, Integer::sum));
        return counts.values().stream().mapToInt(Integer::intValue).max().orElse(0);
    }

    /** What a request that does not fit now waits for. */
    static String lacks(JobRequest request, Rooms rooms, List<String> unknown) {
        List<String> parts = new ArrayList<>();
        boolean hasDevices = GangPlacer.fits(request.withoutHostNeed(), rooms);
        if (!hasDevices) {
            parts.addAll(lacksDevices(request, rooms.devices()));
        }
        if (hasDevices || !GangPlacer.fits(request, rooms.withDevicesAtTheirBest())) {
            parts.add(named(HostTexts.lacking(request, rooms, HostOffer::room, "free")));
        }
        if (!unknown.isEmpty()) {
            parts.add("not known: " + named(unknown));
        }
        return String.join("; ", parts);
    }

    private static List<String> lacksDevices(JobRequest request, List<DeviceOffer> offers) {
        List<DeviceOffer> wanted = offers.stream()
                .filter(offer -> GangPlacer.isWanted(request.wanted(), offer))
                .toList();
        Bundle hardest = kinds(request).get(0);
        List<String> parts = new ArrayList<>();
        parts.add("%s%s; %s"
                .formatted(
                        needs(request),
                        request.wanted().extent() == Extent.SAME_NODE ? " on one node" : "",
                        have(request, wanted)));
        wanted.stream()
                .filter(offer -> offer.out().isEmpty() && !hardest.fits(offer))
                .max(Comparator.comparing(DeviceOffer::room))
                .ifPresent(offer -> parts.add("of the others %s has most, %s of %s"
                        .formatted(offer.label(), offer.room(), hardest.needOn(offer))));
        List<String> out = wanted.stream()
                .filter(offer -> offer.out().isPresent())
                .map(offer -> offer.label() + ": " + offer.out().orElseThrow())
                .toList();
        if (!out.isEmpty()) {
            parts.add("out: " + named(out));
        }
        return parts;
    }

    /** What a submitter waited for, and got. */
    static String placed(Duration waited, Reservation reservation) {
        List<String> nodes = reservation.parts().stream()
                .map(part -> part.node().value())
                .distinct()
                .toList();
        return "has its room after %d.%d s: ranks %d, devices %d, on %s"
                .formatted(
                        waited.toSeconds(),
                        waited.toMillisPart() / 100,
                        reservation.parts().stream()
                                .mapToInt(ReservedPart::ranks)
                                .sum(),
                        reservation.parts().size(),
                        named(nodes));
    }

    private static String named(List<String> all) {
        String more = all.size() > MAX_NAMED ? " and %d more".formatted(all.size() - MAX_NAMED) : "";
        return String.join(", ", all.subList(0, Math.min(MAX_NAMED, all.size()))) + more;
    }

    private static String devices(int count) {
        return Counts.of(count, "device");
    }
}
