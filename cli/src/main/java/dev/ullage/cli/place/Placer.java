package dev.ullage.cli.place;

import dev.ullage.cli.place.Offer.Device;
import dev.ullage.cli.place.Offer.Host;
import dev.ullage.cli.place.PlacementWish.Extent;
import dev.ullage.common.model.Counts;
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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Chooses devices for the ranks of one job, by the policies that the simulation uses, or says what is missing. Pure.
 *
 * <p>All devices have as many ranks as they may, but for the last, which has what remains. The full ones are placed
 * first. That loses nothing: what is enough for a full device is enough for the last, so while a node could take one
 * more full device it can take the last, and where none could, every way to place the full ones leaves the same.
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
        policy = kind.create(RequestMix.of(List.of(request(1, wish.mostOnDevice()))), 0);
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

    /** Ranks by device, by node: a device by its position, in the order in which they were chosen. */
    private record Chosen(Map<String, Map<Integer, Integer>> nodes) {
        Chosen with(Placed placed, int ranksEach) {
            Map<String, Map<Integer, Integer>> more = new LinkedHashMap<>();
            nodes.forEach((node, devices) -> more.put(node, new LinkedHashMap<>(devices)));
            Map<Integer, Integer> there = more.computeIfAbsent(placed.nodeName(), node -> new LinkedHashMap<>());
            placed.devices().forEach(device -> there.put(device, ranksEach));
            return new Chosen(more);
        }

        Map<Integer, Integer> on(String node) {
            return nodes.getOrDefault(node, Map.of());
        }

        int ranksOn(String node) {
            return on(node).values().stream().mapToInt(Integer::intValue).sum();
        }
    }

    private Answer place() {
        int could = devicesFor(offer.hosts(), Basis.BEST);
        if (could < wish.devices()) {
            return new Answer.Never(never(could));
        }
        Predicate<String> isAllowed = node -> true;
        if (wish.extent() == Extent.SAME_NODE) {
            List<String> forAll = offer.hosts().stream()
                    .filter(host -> devicesFor(List.of(host), Basis.NOW) >= wish.devices())
                    .map(Host::node)
                    .toList();
            isAllowed = forAll::contains;
        }
        return some(wish.fullDevices(), wish.ranksPerDevice(), new Chosen(Map.of()), isAllowed)
                .flatMap(this::withLast)
                .<Answer>map(chosen -> new Answer.Found(ranks(chosen)))
                .orElseGet(() -> new Answer.NotNow(notNow()));
    }

    /** With the device that has fewer ranks, if any: where the others are, unless they are to be apart. */
    private Optional<Chosen> withLast(Chosen full) {
        if (wish.ranksOnLast() == 0) {
            return Optional.of(full);
        }
        Predicate<String> isThere = full.nodes()::containsKey;
        boolean isFirst = full.nodes().isEmpty();
        Optional<Chosen> there = isFirst || wish.extent() == Extent.SPREAD
                ? Optional.empty()
                : some(1, wish.ranksOnLast(), full, isThere);
        boolean mayBeElsewhere = isFirst || wish.extent() != Extent.SAME_NODE;
        return there.isPresent() || !mayBeElsewhere ? there : some(1, wish.ranksOnLast(), full, node -> true);
    }

    /** As many devices with as many ranks; empty where there is not room for all of them. */
    private Optional<Chosen> some(int devices, int ranksEach, Chosen before, Predicate<String> isAllowed) {
        Chosen chosen = before;
        for (int missing = devices; missing > 0; ) {
            Optional<Placed> placed = onOneNode(missing, ranksEach, chosen, isAllowed);
            if (placed.isEmpty()) {
                return Optional.empty();
            }
            chosen = chosen.with(placed.get(), ranksEach);
            missing -= placed.get().devices().size();
        }
        return Optional.of(chosen);
    }

    /** As many of the missing devices as one node has room for; all or none when they must be of one node. */
    private Optional<Placed> onOneNode(int missing, int ranksEach, Chosen chosen, Predicate<String> isAllowed) {
        int largest = offer.hosts().stream()
                .mapToInt(host -> host.devices().size())
                .max()
                .orElse(0);
        int most = wish.extent() == Extent.SPREAD ? 1 : Math.min(missing, largest);
        int least = wish.extent() == Extent.SAME_NODE ? missing : 1;
        for (int devices = most; devices >= least; devices--) {
            PlacementRequest request = request(devices, ranksEach);
            // What an instance can hold takes no room from a whole device, and no larger instance than it needs.
            if (wish.memory().isPresent()
                    && wish.extent() != Extent.SPREAD
                    && on(board(chosen, isAllowed, Device::isInstance), new MigSlicePolicy(), request)
                            instanceof Placed placed) {
                return Optional.of(placed);
            }
            if (on(board(chosen, isAllowed, device -> true), policy, request) instanceof Placed placed) {
                return Optional.of(placed);
            }
        }
        return Optional.empty();
    }

    private static Placement on(PlacementBoard board, PlacementPolicy chooses, PlacementRequest request) {
        board.arrived(request);
        return chooses.place(board, request);
    }

    private PlacementRequest request(int devices, int ranksEach) {
        HostAmount onHost = HostAmount.of(wish.host(), devices * ranksEach);
        return new PlacementRequest(
                devices,
                shareOf(ranksEach),
                (int) Math.min(Integer.MAX_VALUE, onHost.cpuMilli()),
                bounded(onHost.memory()),
                new TreeSet<>());
    }

    /** What so many ranks need of a device, in the board's unit. */
    private long shareOf(int ranks) {
        return wish.memory().map(memory -> timesAtMost(memory.value(), ranks)).orElseGet(() -> milli(ranks));
    }

    /** The board counts in whole MiB, of which it can hold so many. */
    private static MemoryBytes bounded(MemoryBytes memory) {
        return memory.min(MemoryBytes.ofMebibytes(Integer.MAX_VALUE));
    }

    /** An amount that no device has stays one; the board can hold so much. */
    private static long timesAtMost(long bytes, int ranks) {
        long most = Integer.MAX_VALUE * MemoryBytes.MEBIBYTE;
        return bytes > most / ranks ? most : bytes * ranks;
    }

    private long milli(int ranks) {
        long basisPoints = (long) wish.share().map(Share::basisPoints).orElse(0) * ranks;
        long perMilli = Share.ONE_IN_BASIS_POINTS / MILLI;
        return (basisPoints + perMilli - 1) / perMilli;
    }

    private PlacementBoard board(Chosen chosen, Predicate<String> isAllowed, Predicate<Device> isOffered) {
        List<NodeRoom> nodes = new ArrayList<>();
        for (Host host : offer.hosts()) {
            List<DeviceRoom> rooms = new ArrayList<>();
            for (int i = 0; i < host.devices().size(); i++) {
                Device device = host.devices().get(i);
                boolean isTaken = !isAllowed.test(host.node())
                        || chosen.on(host.node()).containsKey(i)
                        || !isOffered.test(device);
                rooms.add(room(device, isTaken));
            }
            String model = host.devices().isEmpty() ? "" : host.devices().get(0).name();
            HostAmount taken = HostAmount.of(wish.host(), chosen.ranksOn(host.node()));
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

    /** What is counted with. */
    private enum Basis {
        /** With nothing else on the devices and hosts; what a host does not say is taken to be enough. */
        BEST,
        NOW,
        /** As now, whatever hosts have. */
        DEVICES_NOW
    }

    /** How many of the devices it asks for these hosts have: all of them exactly when there is room for it. */
    private int devicesFor(List<Host> hosts, Basis basis) {
        int sum = 0;
        int most = 0;
        boolean hasLast = false;
        for (Host host : hosts) {
            int seats = seats(host, basis);
            int full = Math.min(count(host, wish.ranksPerDevice(), basis), seats / wish.ranksPerDevice());
            int last = wish.ranksOnLast();
            boolean isRoomForLast =
                    last > 0 && seats - full * wish.ranksPerDevice() >= last && count(host, last, basis) > full;
            sum += full;
            most = Math.max(most, full + (isRoomForLast ? 1 : 0));
            hasLast |= isRoomForLast;
        }
        return wish.extent() == Extent.SAME_NODE ? most : sum + (hasLast ? 1 : 0);
    }

    private int seats(Host host, Basis basis) {
        return switch (basis) {
            case BEST -> host.figures().most().ranksAtBest(wish.host());
            case NOW -> host.figures().free().ranks(wish.host());
            case DEVICES_NOW -> Integer.MAX_VALUE;
        };
    }

    /** Devices of a host that are enough for so many ranks. */
    private int count(Host host, int ranks, Basis basis) {
        return (int) host.devices().stream()
                .filter(device -> basis == Basis.BEST ? isEverEnough(device, ranks) : isEnough(device, ranks))
                .count();
    }

    private boolean isEverEnough(Device device, int ranks) {
        long need = needOn(device, ranks);
        return isWanted(device)
                && (unit() == ShareUnit.BYTES
                        ? isEnough(device.most().value(), need)
                        : device.most().value() >= need);
    }

    private boolean isEnough(Device device, int ranks) {
        DeviceRoom room = room(device, false);
        return unit() == ShareUnit.BYTES ? isEnough(room.room(), shareOf(ranks)) : room.room() >= shareOf(ranks);
    }

    /** In bytes, of which the board counts whole MiB. */
    private static boolean isEnough(long room, long need) {
        return room / MemoryBytes.MEBIBYTE >= (need + MemoryBytes.MEBIBYTE - 1) / MemoryBytes.MEBIBYTE;
    }

    /** Bytes that so many ranks need there. */
    private long needOn(Device device, int ranks) {
        return wish.memory().isPresent()
                ? shareOf(ranks)
                : milli(ranks) * device.room().capacity() / MILLI;
    }

    private String need() {
        return "%s %s %s"
                .formatted(Counts.of(wish.ranks(), "rank"), Counts.word(wish.ranks(), "needs", "need"), wish.text());
    }

    private String never(int could) {
        PlacementWish devicesOnly = wish.withoutHostNeed();
        if (!wish.host().isNone() && !(place(offer, devicesOnly) instanceof Answer.Never)) {
            return ofHosts(HostFigures::most, "has");
        }
        List<Device> wanted = offer.hosts().stream()
                .flatMap(host -> host.devices().stream())
                .filter(this::isWanted)
                .toList();
        String largest = wanted.stream()
                .map(Device::most)
                .max(Comparator.naturalOrder())
                .map(most -> ", the most that one can promise is " + most)
                .orElse("");
        return "%s; %d could ever give that, of %d%s%s%s%s"
                .formatted(
                        need(),
                        could,
                        wanted.size(),
                        wish.model().map(" matching %s"::formatted).orElse(""),
                        largest,
                        wanted.isEmpty() ? models() : "",
                        unknown());
    }

    /** Of a model that nothing matches, what there is instead. */
    private String models() {
        return offer.hosts().stream()
                .flatMap(host -> host.devices().stream())
                .map(Device::name)
                .distinct()
                .sorted()
                .limit(MAX_NAMED)
                .collect(Collectors.joining(", ", "; models there are: ", ""));
    }

    private String ofHosts(Function<HostFigures, HostFigures.Amounts> amounts, String word) {
        List<String> lacking = offer.hosts().stream()
                .filter(host -> count(host, 1, Basis.BEST) > 0)
                .flatMap(host ->
                        HostFigures.lacking(host.node(), amounts.apply(host.figures()), wish.host(), wish.ranks(), word)
                                .stream())
                .toList();
        return "%s %s for %s%s: %s%s"
                .formatted(
                        Counts.of(wish.ranks(), "rank"),
                        Counts.word(wish.ranks(), "asks", "ask"),
                        wish.host().text(),
                        wish.ranks() == 1 ? "" : " each",
                        named(lacking),
                        unknown());
    }

    private static String named(List<String> all) {
        String more = all.size() > MAX_NAMED ? " and %d more".formatted(all.size() - MAX_NAMED) : "";
        return String.join("; ", all.subList(0, Math.min(MAX_NAMED, all.size()))) + more;
    }

    private String notNow() {
        if (!wish.host().isNone() && place(offer, wish.withoutHostNeed()) instanceof Answer.Found) {
            return ofHosts(HostFigures::free, "free");
        }
        List<Host> within = wish.extent() == Extent.SAME_NODE
                ? List.of(offer.hosts().stream()
                        .filter(host -> devicesFor(List.of(host), Basis.BEST) >= wish.devices())
                        .max(Comparator.comparingInt(host -> devicesFor(List.of(host), Basis.DEVICES_NOW)))
                        .orElseThrow())
                : offer.hosts();
        int now = devicesFor(within, Basis.DEVICES_NOW);
        int full = within.stream()
                .mapToInt(host -> count(host, wish.ranksPerDevice(), Basis.NOW))
                .sum();
        int lacksFor = full >= wish.fullDevices() ? wish.ranksOnLast() : wish.mostOnDevice();
        List<String> lacking = new ArrayList<>();
        for (Host host : within) {
            host.devices().stream()
                    .filter(device -> isEverEnough(device, lacksFor) && !isEnough(device, lacksFor))
                    .forEach(device ->
                            lacking.add("%s %s: %s".formatted(host.node(), device.label(), lack(device, lacksFor))));
        }
        return "%s; %d %s that now, so %d of these would have to be free: %s%s"
                .formatted(
                        need(), now, Counts.word(now, "has", "have"), wish.devices() - now, named(lacking), unknown());
    }

    private String lack(Device device, int ranks) {
        return device.room().reason().orElseGet(() -> "%s free, %s more needed"
                .formatted(
                        MemoryBytes.of(device.room().room()),
                        MemoryBytes.of(needOn(device, ranks)
                                - Math.min(needOn(device, ranks), device.room().room()))));
    }

    private String unknown() {
        return offer.unknown().isEmpty() ? "" : "; not counted: " + String.join(", ", offer.unknown());
    }

    /**
     * By node in the order in which nodes were chosen, on it by device; the device with fewer ranks is the last of all,
     * so that a local rank divided by the ranks of a device is its device, as scripts reckon.
     */
    private List<PlacedRank> ranks(Chosen chosen) {
        List<PlacedRank> ranks = new ArrayList<>();
        chosen.nodes().entrySet().stream()
                .sorted(Comparator.comparing(node -> hasLast(node.getValue())))
                .forEach(node -> {
                    Host host = offer.hosts().stream()
                            .filter(one -> one.node().equals(node.getKey()))
                            .findFirst()
                            .orElseThrow();
                    ranks.addAll(ranksOn(host, node.getValue(), ranks.size()));
                });
        return ranks;
    }

    private boolean hasLast(Map<Integer, Integer> devices) {
        return devices.containsValue(wish.ranksOnLast());
    }

    private static List<PlacedRank> ranksOn(Host host, Map<Integer, Integer> devices, int first) {
        List<PlacedRank> ranks = new ArrayList<>();
        Comparator<Map.Entry<Integer, Integer>> fullFirst =
                Map.Entry.<Integer, Integer>comparingByValue().reversed();
        devices.entrySet().stream()
                .sorted(fullFirst.thenComparing(Map.Entry.comparingByKey()))
                .forEach(entry -> {
                    Device device = host.devices().get(entry.getKey());
                    for (int k = 0; k < entry.getValue(); k++) {
                        ranks.add(new PlacedRank(
                                first + ranks.size(), host.node(), ranks.size(), device.uuid(), device.index()));
                    }
                });
        return ranks;
    }
}
