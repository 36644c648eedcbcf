package dev.ullage.cli.place;

import dev.ullage.cli.place.Offer.Device;
import dev.ullage.cli.place.Offer.Host;
import dev.ullage.cli.place.PlacementWish.Extent;
import dev.ullage.common.model.HostAmount;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;
import dev.ullage.coordinator.planning.balance.DeviceRoom;
import dev.ullage.coordinator.planning.balance.MigSlicePolicy;
import dev.ullage.coordinator.planning.balance.NameGlob;
import dev.ullage.coordinator.planning.balance.NodeRoom;
import dev.ullage.coordinator.planning.balance.Placement;
import dev.ullage.coordinator.planning.balance.Placement.Placed;
import dev.ullage.coordinator.planning.balance.PlacementBoard;
import dev.ullage.coordinator.planning.balance.PlacementPolicy;
import dev.ullage.coordinator.planning.balance.PlacementRequest;
import dev.ullage.coordinator.planning.balance.PolicyKind;
import dev.ullage.coordinator.planning.balance.RequestMix;
import dev.ullage.coordinator.planning.balance.ShareUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Chooses devices for the ranks of one job, by the policies that the simulation uses, or says what is missing. Pure.
 */
final class Placer {
    private static final int MILLI = 1000;
    private static final int MAX_NAMED = 8;

    private final Offer offer;
    private final PlacementWish wish;
    private final PlacementPolicy policy;

    private Placer(Offer offer, PlacementWish wish) {
        this.offer = offer;
        this.wish = wish;
        PolicyKind kind = wish.extent() == Extent.SPREAD ? PolicyKind.SPREAD : wish.policy();
        policy = kind.create(RequestMix.of(List.of(request(1))), 0);
    }

    /** What came of it. */
    sealed interface Answer {
        /** @param ranks in the order of their number */
        record Found(List<PlacedRank> ranks) implements Answer {}

        /** Not even with nothing else on the devices. */
        record Never(String why) implements Answer {}

        /** Not while things are as they are. */
        record NotNow(String why) implements Answer {}
    }

    static Answer place(Offer offer, PlacementWish wish) {
        return new Placer(offer, wish).place();
    }

    private Answer place() {
        List<Integer> couldGive = offer.hosts().stream().map(this::couldGive).toList();
        int could = wish.extent() == Extent.SAME_NODE
                ? couldGive.stream().mapToInt(Integer::intValue).max().orElse(0)
                : couldGive.stream().mapToInt(Integer::intValue).sum();
        if (could < wish.devices()) {
            return new Answer.Never(never(could));
        }
        Map<String, Set<Integer>> chosen = new LinkedHashMap<>();
        for (int missing = wish.devices(); missing > 0; ) {
            Optional<Placed> placed = some(missing, chosen);
            if (placed.isEmpty()) {
                return new Answer.NotNow(notNow());
            }
            chosen.computeIfAbsent(placed.orElseThrow().nodeName(), node -> new LinkedHashSet<>())
                    .addAll(placed.orElseThrow().devices());
            missing -= placed.orElseThrow().devices().size();
        }
        return new Answer.Found(ranks(chosen));
    }

    /** At best: what a host does not say is taken to be enough, and the last device may have fewer ranks. */
    private int couldGive(Host host) {
        int seats = host.figures().most().ranksAtBest(wish.host());
        if (wish.extent() == Extent.SAME_NODE && seats < wish.ranks()) {
            return 0;
        }
        long byHost = ((long) seats + wish.ranksPerDevice() - 1) / wish.ranksPerDevice();
        return (int) Math.min(
                byHost, host.devices().stream().filter(this::isEverEnough).count());
    }

    /** As many of the missing devices as one node has room for; all or none when they must be of one node. */
    private Optional<Placed> some(int missing, Map<String, Set<Integer>> chosen) {
        int largest = offer.hosts().stream()
                .mapToInt(host -> host.devices().size())
                .max()
                .orElse(0);
        int most = wish.extent() == Extent.SPREAD ? 1 : Math.min(missing, largest);
        int least = wish.extent() == Extent.SAME_NODE ? missing : 1;
        for (int devices = most; devices >= least; devices--) {
            // What an instance can hold takes no room from a whole device, and no larger instance than it needs.
            if (wish.memory().isPresent()
                    && wish.extent() != Extent.SPREAD
                    && on(instances(chosen), new MigSlicePolicy(), devices) instanceof Placed placed) {
                return Optional.of(placed);
            }
            if (on(board(chosen, device -> true), policy, devices) instanceof Placed placed) {
                return Optional.of(placed);
            }
        }
        return Optional.empty();
    }

    private PlacementBoard instances(Map<String, Set<Integer>> chosen) {
        return board(chosen, Device::isInstance);
    }

    private Placement on(PlacementBoard board, PlacementPolicy chooses, int devices) {
        board.arrived(request(devices));
        return chooses.place(board, request(devices));
    }

    private PlacementRequest request(int devices) {
        long share = wish.memory()
                .map(memory -> timesAtMost(memory.value(), wish.ranksPerDevice()))
                .orElseGet(this::milli);
        HostAmount onHost = ofHost(devices);
        return new PlacementRequest(
                devices,
                share,
                (int) Math.min(Integer.MAX_VALUE, onHost.cpuMilli()),
                bounded(onHost.memory()),
                new TreeSet<>());
    }

    /** Of the ranks of so many devices: all full, unless they are all there are. */
    private HostAmount ofHost(int devices) {
        return HostAmount.of(wish.host(), devices == wish.devices() ? wish.ranks() : devices * wish.ranksPerDevice());
    }

    /** The board counts in whole MiB, of which it can hold so many. */
    private static MemoryBytes bounded(MemoryBytes memory) {
        return memory.min(MemoryBytes.ofMebibytes(Integer.MAX_VALUE));
    }

    /** An amount that no device has stays one. */
    private static long timesAtMost(long bytes, int ranks) {
        return bytes > Long.MAX_VALUE / ranks ? Long.MAX_VALUE : bytes * ranks;
    }

    private long milli() {
        long basisPoints = (long) wish.share().map(Share::basisPoints).orElse(0) * wish.ranksPerDevice();
        long perMilli = Share.ONE_IN_BASIS_POINTS / MILLI;
        return (basisPoints + perMilli - 1) / perMilli;
    }

    private PlacementBoard board(Map<String, Set<Integer>> chosen, Predicate<Device> isOffered) {
        List<NodeRoom> nodes = new ArrayList<>();
        for (Host host : offer.hosts()) {
            List<DeviceRoom> rooms = new ArrayList<>();
            for (int i = 0; i < host.devices().size(); i++) {
                Device device = host.devices().get(i);
                boolean isTaken = chosen.getOrDefault(host.node(), Set.of()).contains(i);
                rooms.add(room(device, isTaken || !isOffered.test(device)));
            }
            String model = host.devices().isEmpty() ? "" : host.devices().get(0).name();
            HostAmount taken = ofHost(chosen.getOrDefault(host.node(), Set.of()).size());
            HostFigures.Amounts free = host.figures().free();
            nodes.add(new NodeRoom(
                    host.node(),
                    model,
                    (int) Math.min(
                            Integer.MAX_VALUE, Math.max(0, free.cpuMilli().orElse(0) - taken.cpuMilli())),
                    bounded(free.memory().orElse(MemoryBytes.ZERO).minusOrZero(taken.memory())),
                    rooms));
        }
        return PlacementBoard.of(unit(), nodes);
    }

    private ShareUnit unit() {
        return wish.memory().isPresent() ? ShareUnit.BYTES : ShareUnit.MILLI_DEVICE;
    }

    private DeviceRoom room(Device device, boolean isTaken) {
        DeviceRoom room = device.room();
        boolean isOut = isTaken || !isWanted(device);
        if (wish.memory().isPresent()) {
            return isOut ? new DeviceRoom(room.device(), room.capacity(), 0, room.reason()) : room;
        }
        return new DeviceRoom(room.device(), MILLI, isOut ? 0 : roomMilli(room.room(), room.capacity()), room.reason());
    }

    /** The most thousandths of the device that, in whole bytes and rounded down, are within the room. */
    private static long roomMilli(long room, long capacity) {
        return Math.min(MILLI, ((room + 1) * MILLI - 1) / capacity);
    }

    private boolean isWanted(Device device) {
        return wish.model().map(glob -> NameGlob.matches(glob, device.name())).orElse(true);
    }

    private boolean isEverEnough(Device device) {
        return isWanted(device) && device.most().value() >= needOn(device);
    }

    /** Bytes that the ranks of one device need there. */
    private long needOn(Device device) {
        return wish.memory().isPresent()
                ? request(1).share()
                : milli() * device.room().capacity() / MILLI;
    }

    private String never(int could) {
        PlacementWish devicesOnly = wish.withoutHostNeed();
        if (!wish.host().isNone() && !(place(offer, devicesOnly) instanceof Answer.Never)) {
            return ofHosts(HostFigures::most, "has");
        }
        long wanted = offer.hosts().stream()
                .flatMap(host -> host.devices().stream())
                .filter(this::isWanted)
                .count();
        String largest = offer.hosts().stream()
                .flatMap(host -> host.devices().stream())
                .filter(this::isWanted)
                .map(Device::most)
                .max(Comparator.naturalOrder())
                .map(most -> ", the most that one can promise is " + most)
                .orElse("");
        return "%d ranks need %d devices%s with %s each; %d could ever give that, of %d%s%s%s"
                .formatted(
                        wish.ranks(),
                        wish.devices(),
                        wish.extent() == Extent.SAME_NODE ? " of one node" : "",
                        wish.each(),
                        could,
                        wanted,
                        wish.model().map(" matching %s"::formatted).orElse(""),
                        largest,
                        unknown());
    }

    private String ofHosts(Function<HostFigures, HostFigures.Amounts> amounts, String word) {
        List<String> lacking = offer.hosts().stream()
                .filter(host -> host.devices().stream().anyMatch(this::isEverEnough))
                .flatMap(host ->
                        HostFigures.lacking(host.node(), amounts.apply(host.figures()), wish.host(), wish.ranks(), word)
                                .stream())
                .toList();
        String more = lacking.size() > MAX_NAMED ? " and %d more".formatted(lacking.size() - MAX_NAMED) : "";
        return "%d ranks ask for %s each: %s%s%s"
                .formatted(
                        wish.ranks(),
                        wish.host().text(),
                        String.join("; ", lacking.subList(0, Math.min(MAX_NAMED, lacking.size()))),
                        more,
                        unknown());
    }

    private String notNow() {
        if (!wish.host().isNone() && place(offer, wish.withoutHostNeed()) instanceof Answer.Found) {
            return ofHosts(HostFigures::free, "free");
        }
        List<Host> within = wish.extent() == Extent.SAME_NODE
                ? List.of(offer.hosts().stream()
                        .filter(host -> host.devices().stream()
                                        .filter(this::isEverEnough)
                                        .count()
                                >= wish.devices())
                        .max(Comparator.comparingLong(host -> free(host).count()))
                        .orElseThrow())
                : offer.hosts();
        long now = within.stream().mapToLong(host -> free(host).count()).sum();
        List<String> lacking = new ArrayList<>();
        for (Host host : within) {
            host.devices().stream()
                    .filter(device -> isEverEnough(device) && !isEnough(device))
                    .forEach(device -> lacking.add("%s %s: %s".formatted(host.node(), device.label(), lack(device))));
        }
        String more = lacking.size() > MAX_NAMED ? " and %d more".formatted(lacking.size() - MAX_NAMED) : "";
        return "%d ranks need %d devices%s with %s each; %d have that now, so %d of these would have to be free: %s%s%s"
                .formatted(
                        wish.ranks(),
                        wish.devices(),
                        wish.extent() == Extent.SAME_NODE ? " of one node" : "",
                        wish.each(),
                        now,
                        wish.devices() - now,
                        String.join("; ", lacking.subList(0, Math.min(MAX_NAMED, lacking.size()))),
                        more,
                        unknown());
    }

    private Stream<Device> free(Host host) {
        return host.devices().stream().filter(this::isEnough);
    }

    private boolean isEnough(Device device) {
        return room(device, false).room() >= request(1).share();
    }

    private String lack(Device device) {
        return device.room().reason().orElseGet(() -> "%s free, %s more needed"
                .formatted(
                        MemoryBytes.of(device.room().room()),
                        MemoryBytes.of(needOn(device)
                                - Math.min(needOn(device), device.room().room()))));
    }

    private String unknown() {
        return offer.unknown().isEmpty() ? "" : "; not counted: " + String.join(", ", offer.unknown());
    }

    /** By node in the order in which nodes were chosen, on it by device. */
    private List<PlacedRank> ranks(Map<String, Set<Integer>> chosen) {
        List<PlacedRank> ranks = new ArrayList<>();
        chosen.forEach((node, positions) -> {
            Host host = offer.hosts().stream()
                    .filter(one -> one.node().equals(node))
                    .findFirst()
                    .orElseThrow();
            int localRank = 0;
            for (int position : positions.stream().sorted().toList()) {
                Device device = host.devices().get(position);
                for (int k = 0; k < wish.ranksPerDevice() && ranks.size() < wish.ranks(); k++) {
                    ranks.add(new PlacedRank(ranks.size(), node, localRank++, device.uuid(), device.index()));
                }
            }
        });
        return ranks;
    }
}
