package dev.ullage.cli.simulation;

import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.model.JobId;
import dev.ullage.common.simulation.Dice;
import java.util.List;

/**
 * What goes wrong in {@link GangSimulation}: some of it at any time, some at the worst: coordinators change, and
 * workers die, in the moment in which a part was reserved or committed, or a submitter was told.
 */
final class GangDisturber {
    private static final int AT_ONCE_MILLIS = 300;
    private static final int MAX_CUT_MILLIS = 20_000;

    private final GangSimulation world;
    private final Dice dice;

    GangDisturber(GangSimulation world, Dice dice) {
        this.world = world;
        this.dice = dice;
    }

    void disturb() {
        if (!world.isStormy()) {
            return;
        }
        GangHost.Device device = world.device(dice.pick(world.devices()));
        GangHost host = device.host();
        switch (dice.below(16)) {
            case 0 -> world.start(dice.below(GangSimulation.COORDINATORS));
            case 1 -> world.stop(dice.below(GangSimulation.COORDINATORS));
            case 2 -> host.crash();
            case 3 -> cut(host);
            case 4, 5 -> world.join(device, new JobId("other-" + dice.below(3)));
            case 6 -> device.ranks.keySet().stream().findFirst().ifPresent(device::ends);
            case 7 -> {
                long foreign = dice.between(0, 25);
                host.run(() -> device.measured(foreign));
            }
            case 8 -> loseDisk(device);
            case 9 -> somebody().forEach(GangSubmitter::end);
            case 10 -> somebody().forEach(GangSubmitter::die);
            case 11 -> somebody().forEach(one -> world.operate(one.job(), dice.chance(500)));
            case 12 -> {
                world.start(dice.below(GangSimulation.COORDINATORS));
                host.crash();
            }
            default -> world.submitOne();
        }
    }

    private List<GangSubmitter> somebody() {
        List<GangSubmitter> there =
                world.submitters().stream().filter(one -> !one.isGone()).toList();
        return there.isEmpty() ? there : List.of(dice.pick(there));
    }

    private void cut(GangHost host) {
        int coordinator = dice.below(GangSimulation.COORDINATORS);
        boolean isBothWays = dice.chance(300);
        boolean isToWorker = dice.chance(500);
        long millis = dice.between(500, MAX_CUT_MILLIS);
        if (isBothWays || isToWorker) {
            world.cut(coordinator, host.endpoint, millis);
        }
        if (isBothWays || !isToWorker) {
            world.cut(host.endpoint, coordinator, millis);
        }
    }

    private void loseDisk(GangHost.Device device) {
        if (dice.chance(150)) {
            device.host().crash();
            device.disk.wipe();
            device.wasWiped = true;
            world.note(What.DISTURBANCE, device.host().endpoint, () -> device.id + " loses its disk");
        }
    }

    /** The worst moments in a worker: a part is reserved or committed, and nobody was told yet. */
    void happened(GangHost.Device device, LedgerEvent event) {
        boolean isStep = event instanceof LedgerEvent.ReservationMade
                || event instanceof LedgerEvent.ReservationCommitted
                || event instanceof LedgerEvent.ReservationReleased;
        if (!world.isStormy() || !isStep) {
            return;
        }
        soon(40, () -> device.host().crash());
        soon(40, () -> world.start(dice.below(GangSimulation.COORDINATORS)));
        soon(20, () -> cut(device.host()));
    }

    /**
     * The worst moment of a coordinator: a job is placed, nobody was told, and its devices are not heard of for a
     * while.
     */
    void placed(JobId job, GangCoordinator by) {
        if (!world.isStormy() || !dice.chance(60)) {
            return;
        }
        note(job + " is placed, and " + by + " ends before it says so");
        world.stop(by.endpoint);
        world.start(GangSimulation.COORDINATORS - 1 - by.endpoint);
        world.devices().stream()
                .map(world::device)
                .filter(device -> device.keeps(job))
                .forEach(device -> device.host().crash(dice.between(4_000, 8_000)));
    }

    private void note(String text) {
        world.note(What.DISTURBANCE, 0, () -> text);
    }

    /** The worst moments of a submitter. */
    void told(JobId job) {
        if (world.isStormy()) {
            long later = dice.between(3_000, 8_000);
            if (dice.chance(100)) {
                world.time()
                        .after(later, () -> soon(1_000, () -> world.start(dice.below(GangSimulation.COORDINATORS))));
            }
            soon(80, () -> world.start(dice.below(GangSimulation.COORDINATORS)));
            soon(40, () -> world.stop(dice.below(GangSimulation.COORDINATORS)));
            soon(40, () -> world.operate(job, dice.chance(500)));
        }
    }

    private void soon(int perMille, Runnable event) {
        if (dice.chance(perMille)) {
            world.time().after(dice.between(0, AT_ONCE_MILLIS), () -> {
                if (world.isStormy()) {
                    event.run();
                }
            });
        }
    }
}
