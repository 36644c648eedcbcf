package dev.ullage.coordinator.admission;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.Cpus;
import dev.ullage.common.model.Extent;
import dev.ullage.common.model.HostAmount;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.JobRequest.HostNeed;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Function;

/** What is missing on hosts for a request, with the numbers, and what its submitter should know of it. Pure. */
final class HostTexts {
    private HostTexts() {}

    /**
     * Of each host with less than all ranks ask for: {@code cpus on host-a: asked 16, free 8}.
     *
     * @param has in words, what the amounts are of
     */
    static List<String> lacking(JobRequest request, Rooms rooms, Function<HostOffer, HostRoom> amounts, String has) {
        NavigableSet<NodeId> nodes = new TreeSet<>();
        rooms.devices().stream()
                .filter(device -> GangPlacer.isWanted(request.wanted(), device))
                .forEach(device -> nodes.add(device.node()));
        boolean isOneHost = nodes.size() == 1 || request.wanted().extent() == Extent.SAME_NODE;
        List<String> lines = new ArrayList<>();
        for (NodeId node : nodes) {
            HostRoom room = amounts.apply(rooms.host(node));
            cpus(request, node, room, isOneHost, has).ifPresent(lines::add);
            memory(request, node, room, isOneHost, has).ifPresent(lines::add);
        }
        return lines;
    }

    private static Optional<String> cpus(
            JobRequest request, NodeId node, HostRoom room, boolean isOneHost, String has) {
        if (request.wanted().host().cpuMilli().isEmpty()) {
            return Optional.empty();
        }
        int each = request.wanted().host().cpuMilli().getAsInt();
        if (room.cpuMilli().isEmpty()) {
            return Optional.of("%s does not say how many cpus it has".formatted(node));
        }
        long all = (long) each * request.ranks();
        return room.cpuMilli().getAsLong() >= all
                ? Optional.empty()
                : Optional.of("cpus on %s: asked %s, %s %s"
                        .formatted(
                                node,
                                asked(request, isOneHost, Cpus.text(all), Cpus.text(each)),
                                has,
                                Cpus.text(room.cpuMilli().getAsLong())));
    }

    private static Optional<String> memory(
            JobRequest request, NodeId node, HostRoom room, boolean isOneHost, String has) {
        HostNeed need = request.wanted().host();
        if (need.memory().isEmpty()) {
            return Optional.empty();
        }
        if (room.memory().isEmpty()) {
            return Optional.of("%s does not say how much host memory it has".formatted(node));
        }
        MemoryBytes all = HostAmount.of(need, request.ranks()).memory();
        return all.isMoreThan(room.memory().get())
                ? Optional.of("host memory on %s: asked %s, %s %s"
                        .formatted(
                                node,
                                asked(
                                        request,
                                        isOneHost,
                                        all.toString(),
                                        need.memory().get().toString()),
                                has,
                                room.memory().get()))
                : Optional.empty();
    }

    private static String asked(JobRequest request, boolean isOneHost, String all, String each) {
        if (request.ranks() == 1) {
            return all;
        }
        return isOneHost
                ? "%s (%s for each of %s)".formatted(all, each, Counts.of(request.ranks(), "rank"))
                : "%s for each of %s".formatted(each, Counts.of(request.ranks(), "rank"));
    }

    /** That nobody is held to it, where something is asked of hosts; each in a sentence. */
    static List<String> notes(JobRequest request) {
        HostNeed need = request.wanted().host();
        if (need.isNone()) {
            return List.of();
        }
        return List.of(
                request.groups().isEmpty()
                        ? "cpus and hostMemory are of each rank, and it has none here: nothing is counted for it"
                        : need.text()
                                + " for each rank: counted where jobs are placed, and advisory: nothing holds a rank"
                                + " to it");
    }
}
