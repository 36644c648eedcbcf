package dev.ullage.coordinator.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.Extent;
import dev.ullage.common.model.HostAmount;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.JobRequest.HostNeed;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankGroup;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.model.Share;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.statistics.Statistics;

/** Requests that name processors and memory of hosts, at random. */
class HostPropertyTest {
    private static final List<Extent> EXTENTS = List.of(Extent.values());
    private static final MemoryBytes DEVICE = MemoryBytes.ofGibibytes(8);

    private static DeviceOffer device(int node, int index, int gibibytes) {
        DeviceInfo info = new DeviceInfo(
                new DeviceId("GPU-" + node + "-" + index), index, "H100", DeviceKind.DISCRETE, Optional.empty());
        return new DeviceOffer(
                new NodeId("node-" + node), info, DEVICE, MemoryBytes.ofGibibytes(gibibytes), Optional.empty());
    }

    private static Rooms rooms(SplittableRandom random) {
        List<DeviceOffer> devices = new ArrayList<>();
        NavigableMap<NodeId, HostOffer> hosts = new TreeMap<>();
        int nodes = 1 + random.nextInt(3);
        for (int node = 0; node < nodes; node++) {
            int count = 1 + random.nextInt(3);
            for (int i = 0; i < count; i++) {
                devices.add(device(node, i, random.nextInt(9)));
            }
            HostRoom room = new HostRoom(
                    OptionalLong.of(1000L * random.nextInt(12)),
                    Optional.of(MemoryBytes.ofGibibytes(random.nextInt(12))));
            hosts.put(new NodeId("node-" + node), new HostOffer(room, room));
        }
        return new Rooms(devices, hosts);
    }

    private static JobRequest request(SplittableRandom random) {
        boolean isTwoGroups = random.nextInt(3) == 0;
        List<RankGroup> groups = new ArrayList<>();
        for (int group = 0; group < (isTwoGroups ? 2 : 1); group++) {
            int ranks = 1 + random.nextInt(isTwoGroups ? 3 : 6);
            groups.add(RankGroup.ofMemory(ranks, MemoryBytes.ofGibibytes(1 + random.nextInt(4))));
        }
        HostNeed each = new HostNeed(
                random.nextInt(3) == 0 ? Optional.of(MemoryBytes.ofGibibytes(1 + random.nextInt(3))) : Optional.empty(),
                OptionalInt.of(1000 * (1 + random.nextInt(3))));
        JobRequest.Wanted wanted = JobRequest.Wanted.ANY
                .with(EXTENTS.get(random.nextInt(EXTENTS.size())))
                .with(each);
        int ranksPerDevice = isTwoGroups ? 1 : 1 + random.nextInt(3);
        return new JobRequest(
                new JobId("job"), "me", Priority.MEDIUM, groups, ranksPerDevice, wanted, OptionalLong.empty());
    }

    /** Whether some way to put bundles on devices keeps to all of it: by trying all of them. */
    private static boolean isThereAWay(List<Bundle> bundles, HostNeed each, Rooms rooms) {
        if (bundles.isEmpty()) {
            return true;
        }
        Bundle bundle = bundles.get(0);
        for (DeviceOffer offer : rooms.devices()) {
            boolean hasRoom =
                    bundle.fits(offer) && rooms.host(offer.node()).room().ranks(each) >= bundle.ranks();
            if (hasRoom) {
                Claim taken = Claim.of(
                        List.of(new ReservedPart(offer.node(), offer.id(), bundle.needOn(offer), bundle.ranks())),
                        each);
                Rooms rest =
                        rooms.without(List.of(taken)).on(other -> !other.id().equals(offer.id()));
                if (isThereAWay(bundles.subList(1, bundles.size()), each, rest)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean isThereAWay(JobRequest request, Rooms rooms) {
        List<Bundle> bundles = Bundle.of(request);
        HostNeed each = request.wanted().host();
        return request.wanted().extent() == Extent.SAME_NODE
                ? rooms.hosts().keySet().stream()
                        .anyMatch(node -> isThereAWay(
                                bundles, each, rooms.on(offer -> offer.node().equals(node))))
                : isThereAWay(bundles, each, rooms);
    }

    // Goal: a job is placed exactly when there is a way to place it. Method: small clusters, and all ways.
    @Property(tries = 2_000)
    void whatIsCountedIsWhatCanBePlaced(@ForAll long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Rooms rooms = rooms(random);
        JobRequest request = request(random);
        boolean isThereAWay = isThereAWay(request, rooms);
        Optional<List<ReservedPart>> placed = GangPlacer.place(request, rooms, List.of());

        assertThat(GangPlacer.fits(request, rooms))
                .as("%s on %s", request, rooms)
                .isEqualTo(isThereAWay);
        assertThat(placed.isPresent()).as("%s on %s", request, rooms).isEqualTo(isThereAWay);
        placed.ifPresent(parts -> assertIsWithin(parts, request, rooms));
        boolean isHeldUpByHosts = !isThereAWay && GangPlacer.fits(request.withoutHostNeed(), rooms);
        Statistics.label("placed, or held up by hosts alone")
                .collect(isThereAWay ? "placed" : isHeldUpByHosts ? "hosts" : "devices")
                .coverage(of -> {
                    of.check("placed").percentage(percent -> percent > 10.0);
                    of.check("hosts").percentage(percent -> percent > 10.0);
                });
    }

    private static void assertIsWithin(List<ReservedPart> parts, JobRequest request, Rooms rooms) {
        Claim claim = Claim.of(parts, request.wanted().host());
        assertThat(claim.devices()).hasSize(parts.size()).hasSize(request.devices());
        assertThat(parts.stream().mapToInt(ReservedPart::ranks).sum()).isEqualTo(request.ranks());
        rooms.devices().forEach(device -> assertThat(claim.on(device.id())).isLessThanOrEqualTo(device.room()));
        claim.hosts().forEach((node, amount) -> {
            HostRoom room = rooms.host(node).room();
            assertThat(amount.cpuMilli()).isLessThanOrEqualTo(room.cpuMilli().orElseThrow());
            assertThat(amount.memory()).isLessThanOrEqualTo(room.memory().orElseThrow());
        });
        if (request.wanted().extent() == Extent.SAME_NODE) {
            assertThat(claim.hosts()).hasSize(1);
        }
    }

    private static JobRequest random(String name, SplittableRandom random) {
        JobRequest request =
                VirtualCluster.request(name, 1 + random.nextInt(4), MemoryBytes.ofGibibytes(4 + random.nextInt(30)));
        HostNeed each = new HostNeed(
                random.nextBoolean() ? Optional.of(MemoryBytes.ofGibibytes(1 + random.nextInt(20))) : Optional.empty(),
                random.nextInt(3) > 0 ? OptionalInt.of(500 * (1 + random.nextInt(12))) : OptionalInt.empty());
        return VirtualCluster.on(VirtualCluster.spread(request, EXTENTS.get(random.nextInt(EXTENTS.size()))), each);
    }

    // Goal: jobs that have their room never ask more of a host than it has. Method: jobs come and end, their ranks use
    // some of what they asked for, devices do not hear for a while, coordinators are replaced, submitters fall silent.
    @Property(tries = 40)
    void nobodyIsGivenMoreOfAHostThanItHas(@ForAll long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        VirtualCluster cluster = VirtualCluster.of(Share.NONE, MemoryBytes.ofGibibytes(80), 3, 2, 2);
        for (int node = 0; node < 3; node++) {
            cluster.host("node-" + node, 16, MemoryBytes.ofGibibytes(48));
        }
        List<String> jobs = new ArrayList<>();
        int crowded = 0;
        for (int step = 0; step < 200; step++) {
            if (random.nextInt(4) == 0) {
                String job = "job-" + jobs.size();
                jobs.add(job);
                cluster.submit(random(job, random));
            }
            if (random.nextInt(8) == 0 && !jobs.isEmpty()) {
                String job = jobs.get(random.nextInt(jobs.size()));
                if (random.nextInt(4) == 0) {
                    cluster.falls(job);
                } else {
                    cluster.ends(job);
                }
            }
            cluster.placed().stream()
                    .filter(job -> random.nextInt(5) == 0)
                    .forEach(job -> cluster.starts(job, MemoryBytes.ofGibibytes(random.nextInt(4))));
            if (random.nextInt(6) == 0) {
                cluster.hears("GPU-node-%d-%d".formatted(random.nextInt(3), random.nextInt(2)), random.nextBoolean());
            }
            if (random.nextInt(80) == 0) {
                cluster.failOver();
            }
            cluster.tick();
            for (int node = 0; node < 3; node++) {
                HostAmount asked = cluster.askedOf("node-" + node);
                assertThat(asked.cpuMilli()).as("seed %d, step %d", seed, step).isLessThanOrEqualTo(16_000);
                assertThat(asked.memory())
                        .as("seed %d, step %d", seed, step)
                        .isLessThanOrEqualTo(MemoryBytes.ofGibibytes(48));
                crowded += asked.cpuMilli() > 12_000 || asked.memory().isMoreThan(MemoryBytes.ofGibibytes(36)) ? 1 : 0;
            }
        }
        Statistics.label("hosts were nearly full").collect(crowded > 10).coverage(of -> of.check(true)
                .percentage(percent -> percent > 50.0));
    }
}
