package dev.ullage.cli.simulation;

import dev.ullage.cli.simulation.SimulatedHost.CrashPoint;
import dev.ullage.common.model.Share;
import java.util.List;
import java.util.Optional;

/** Makes the script's disturbances happen. */
final class Disturber {
    private static final int MAX_RANKS_PER_DEVICE = 4;
    private static final int MILLI = 1000;
    private static final long MAX_CUT_MILLIS = 4000;
    private static final long MAX_DEAF_MILLIS = 5000;

    private final World world;

    Disturber(World world) {
        this.world = world;
    }

    void plan(List<Disturbance> script) {
        script.forEach(one -> world.time().after(one.atMillis(), () -> happen(one)));
    }

    private void happen(Disturbance one) {
        world.note(What.DISTURBANCE, one.id(), one.b(), one::toString);
        switch (one.kind()) {
            case WORKER_CRASHES, WORKER_CRASHES_AT_NEXT_WRITE, WORKER_LOSES_ITS_DISK, HOST_LOSES_POWER ->
                workerFails(one, pick(world.hosts(), one.a()));
            case RANK_JOINS -> join(pick(world.devices(), one.a()));
            case RANK_LEAVES,
                    RANK_VANISHES,
                    RANK_RESTARTS,
                    RANK_EXECS,
                    RANK_GOES_DEAF,
                    RANK_LOSES_CONNECTION,
                    SHARE_IS_SET -> rank(one.a()).ifPresent(rank -> happenTo(rank, one));
            case COORDINATOR_CRASHES, COORDINATOR_STARTS, WORKER_FOLLOWS_ANOTHER, LINK_IS_CUT, LINK_IS_CUT_ONE_WAY ->
                clusterChanges(one, pick(world.coordinators(), one.a()), pick(world.hosts(), one.b()));
            case RESERVE_IS_SET, FOREIGN_MEMORY_CHANGES, CAPACITY_CHANGES ->
                deviceChanges(one, pick(world.devices(), one.a()));
        }
    }

    private void workerFails(Disturbance one, SimulatedHost host) {
        switch (one.kind()) {
            case WORKER_CRASHES -> host.crash();
            case WORKER_CRASHES_AT_NEXT_WRITE -> host.dieAt(pick(List.of(CrashPoint.values()), one.b()));
            case WORKER_LOSES_ITS_DISK -> host.loseDisk();
            default -> {
                host.crash();
                world.ranks().stream()
                        .filter(rank -> rank.host == host)
                        .toList()
                        .forEach(world::end);
            }
        }
    }

    private void join(SimulatedDevice device) {
        if (world.ranksOn(device).size() < MAX_RANKS_PER_DEVICE) {
            world.join(device);
        }
    }

    private Optional<SimulatedRank> rank(int number) {
        return world.ranks().isEmpty() ? Optional.empty() : Optional.of(pick(world.ranks(), number));
    }

    private void happenTo(SimulatedRank rank, Disturbance one) {
        switch (one.kind()) {
            case RANK_RESTARTS -> world.restart(rank);
            case RANK_EXECS -> rank.exec();
            case RANK_GOES_DEAF -> rank.goDeaf(world.time().nowMillis() + MAX_DEAF_MILLIS * one.b() / MILLI);
            case RANK_LOSES_CONNECTION -> rank.loseConnection();
            case SHARE_IS_SET ->
                world.coordinators()
                        .forEach(coordinator ->
                                coordinator.setShare(rank.instance.rank(), Share.ofPercent(10 + one.b() % 91)));
            default -> world.end(rank);
        }
    }

    private void clusterChanges(Disturbance one, SimulatedCoordinator coordinator, SimulatedHost host) {
        switch (one.kind()) {
            case COORDINATOR_CRASHES -> {
                coordinator.crash();
                SimulatedCoordinator other = pick(world.coordinators(), coordinator.number + 1);
                world.time().after(one.b() * 2L, other::start);
                world.hosts().forEach(any -> any.follows = other.number);
            }
            case COORDINATOR_STARTS -> {
                coordinator.start();
                host.follows = coordinator.number;
            }
            case WORKER_FOLLOWS_ANOTHER -> host.follows = coordinator.number;
            default -> cut(one, World.endpoint(coordinator), World.endpoint(host));
        }
    }

    private void cut(Disturbance one, int a, int b) {
        boolean outward = one.kind() == Disturbance.Kind.LINK_IS_CUT || one.b() % 2 == 0;
        boolean back = one.kind() == Disturbance.Kind.LINK_IS_CUT || !outward;
        if (outward) {
            world.network().cut(a, b);
        }
        if (back) {
            world.network().cut(b, a);
        }
        world.time().after(MAX_CUT_MILLIS * one.b() / MILLI, () -> {
            world.network().heal(a, b);
            world.network().heal(b, a);
        });
    }

    private void deviceChanges(Disturbance one, SimulatedDevice device) {
        switch (one.kind()) {
            case RESERVE_IS_SET -> {
                Share reserve = Share.ofPercent(5 + one.b() % 56);
                pick(world.coordinators(), one.b()).setReserve(device.info.id(), reserve);
            }
            case FOREIGN_MEMORY_CHANGES -> device.foreignBytes = device.fullBytes / 4 * (one.b() % 401) / 400;
            default ->
                device.allocatableBytes =
                        one.b() % 3 == 0 ? device.fullBytes : device.fullBytes / 10 * (6 + one.b() % 4);
        }
    }

    private static <T> T pick(List<T> list, int number) {
        return list.get(number % list.size());
    }
}
