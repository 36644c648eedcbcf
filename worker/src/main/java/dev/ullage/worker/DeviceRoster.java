package dev.ullage.worker;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.Grant;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.worker.limits.FileLedgerStore;
import dev.ullage.worker.limits.LedgerStore;
import dev.ullage.worker.limits.LimitKeeper;
import dev.ullage.worker.sampling.DeviceReaders;
import dev.ullage.worker.sampling.Sample;
import dev.ullage.worker.turns.TurnDesk;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The devices a worker owns, with their locks and ledgers: those it found at the start and those that came later, as
 * when the layout of MIG instances changes. One that vanishes stays owned: what its ranks hold is freed only when their
 * processes are gone. One whose memory has gone to other devices by a change of the layout is retired
 * ({@link OwnedDevices}).
 *
 * <p>Owned by the thread that starts the worker, then by the one that looks for devices; {@link #present()},
 * {@link #memory} and {@link #measured} are for any.
 */
final class DeviceRoster {
    private static final Logger LOG = LoggerFactory.getLogger(DeviceRoster.class);

    /** How long the start waits for the first reading of a device. */
    private static final Duration FIRST_READING_WITHIN = Duration.ofSeconds(10);

    /**
     * A device with its ledger as the file says it.
     *
     * @param isNew whether there was no such file
     */
    private record Opened(DeviceInfo info, LedgerStore store, DeviceLedger ledger, boolean isNew) {}

    private final WorkerRuntime.Setup setup;
    private final OwnershipLocks locks;
    private final DeviceReaders readers;
    private final TurnDesk turns;
    private final Clock clock;
    private final Map<DeviceId, Opened> owned = new LinkedHashMap<>();
    private final Set<DeviceId> refused = new TreeSet<>();
    private final Map<DeviceId, MemoryUse> newest = new ConcurrentHashMap<>();
    private final Set<DeviceId> retired = new TreeSet<>();
    private volatile List<DeviceInfo> present = List.of();

    DeviceRoster(WorkerRuntime.Setup setup, OwnershipLocks locks, DeviceReaders readers, TurnDesk turns, Clock clock) {
        this.setup = setup;
        this.locks = locks;
        this.readers = readers;
        this.turns = turns;
        this.clock = clock;
    }

    DeviceReaders readers() {
        return readers;
    }

    /** The devices a rank may be on now. */
    List<DeviceInfo> present() {
        return present;
    }

    /** A device's newest totals. */
    Optional<MemoryUse> memory(DeviceId device) {
        return Optional.ofNullable(newest.get(device));
    }

    void measured(Sample sample) {
        sample.reading().memory().ifPresent(memory -> newest.put(sample.device(), memory));
    }

    /** At the start: all of them, or the worker does not start. */
    void openAll(List<DeviceInfo> devices) throws IOException, WorkerStartException {
        for (DeviceInfo device : devices) {
            own(device);
        }
        present = List.copyOf(devices);
    }

    List<WorkerHub.DeviceSetup> opened() {
        return owned.values().stream().map(this::setupOf).toList();
    }

    /**
     * After a look for devices: takes over the new ones and says aloud which are gone.
     *
     * @param onAdded is told of each that was not there before
     * @param onSeen is told of them all when anything about them changed, be it only their order
     */
    void update(
            List<DeviceInfo> found, Consumer<WorkerHub.DeviceSetup> onAdded, Consumer<WorkerHub.DevicesSeen> onSeen) {
        List<DeviceInfo> before = present;
        List<DeviceInfo> usable = new ArrayList<>();
        for (DeviceInfo device : found) {
            if (owned.containsKey(device.id()) || takeOver(device, onAdded)) {
                usable.add(device);
            }
        }
        Set<DeviceId> now = ids(usable);
        boolean isAnyRetired = retire(now);
        before.stream()
                .filter(device -> !now.contains(device.id()) && !retired.contains(device.id()))
                .forEach(DeviceRoster::tellGone);
        tellFound(ids(before), usable);
        present = List.copyOf(usable);
        if (isAnyRetired || !before.equals(usable)) {
            onSeen.accept(new WorkerHub.DevicesSeen(present, Set.copyOf(retired)));
        }
    }

    /** Which of those that are not there can hold nothing any more; once that is known, until they are back. */
    private boolean retire(Set<DeviceId> now) {
        boolean isAny = false;
        retired.removeIf(now::contains);
        for (DeviceId device : owned.keySet()) {
            Optional<String> why =
                    now.contains(device) || retired.contains(device) ? Optional.empty() : readers.retired(device);
            if (why.isPresent()) {
                isAny = true;
                retired.add(device);
                LOG.warn(
                        "device={} state=RETIRED reason=\"{}; nothing can be promised on it any more, and what is"
                                + " promised there stays until its ranks end\"",
                        device,
                        why.get());
            }
        }
        return isAny;
    }

    private static void tellFound(Set<DeviceId> before, List<DeviceInfo> usable) {
        usable.stream()
                .filter(device -> !before.contains(device.id()))
                .forEach(device -> LOG.info("device={} name=\"{}\" reason=\"found\"", device.id(), device.name()));
    }

    private static Set<DeviceId> ids(List<DeviceInfo> devices) {
        return devices.stream().map(DeviceInfo::id).collect(Collectors.toCollection(TreeSet::new));
    }

    private boolean takeOver(DeviceInfo device, Consumer<WorkerHub.DeviceSetup> onAdded) {
        if (refused.contains(device.id())) {
            return false;
        }
        try {
            onAdded.accept(setupOf(own(device)));
            return true;
        } catch (IOException | WorkerStartException e) {
            refused.add(device.id());
            LOG.error(
                    "device={} reason=\"a new device, and this worker cannot look after it: {}; put that right and"
                            + " restart the worker\"",
                    device.id(),
                    e.getMessage());
            return false;
        }
    }

    private static void tellGone(DeviceInfo device) {
        LOG.error(
                "device={} name=\"{}\" reason=\"no longer listed by the driver, which does not say why: it may be lost."
                        + " Its ranks keep their grants until they end; stop them, or bring the device back\"",
                device.id(),
                device.name());
    }

    private Opened own(DeviceInfo device) throws IOException, WorkerStartException {
        locks.lockDevice(device, setup.lockDir());
        DeviceReading reading = readers.readWithin(device.id(), FIRST_READING_WITHIN);
        reading.memory().ifPresent(memory -> newest.put(device.id(), memory));
        Opened opened = openLedger(device, reading);
        DeviceLedger ledger = opened.ledger();
        turns.replayed(
                device.id(),
                ledger.inForce().usablePool(),
                ledger.grants().stream().map(Grant::instance).toList());
        owned.put(device.id(), opened);
        return opened;
    }

    private Opened openLedger(DeviceInfo device, DeviceReading reading) throws IOException {
        Path file = setup.stateDir().resolve(OwnershipLocks.fileName(device.id()) + ".ledger");
        LedgerStore store = FileLedgerStore.open(file, clock);
        try {
            return openLedger(device, store, reading);
        } catch (IOException e) {
            store.close();
            throw e;
        } catch (IllegalArgumentException | IllegalStateException e) {
            store.close();
            throw new IOException("ledger file " + file + " contradicts itself: " + e.getMessage(), e);
        }
    }

    private Opened openLedger(DeviceInfo device, LedgerStore store, DeviceReading reading) throws IOException {
        List<LedgerEvent> past = store.replay();
        if (past.isEmpty()) {
            reading.problems().forEach(problem -> LOG.warn("device={} reason=\"{}\"", device.id(), problem));
            MemoryBytes allocatable =
                    reading.memory().map(MemoryUse::allocatable).orElse(MemoryBytes.ZERO);
            LedgerEvent first = new LedgerEvent.Opened(
                    device.id(), new BudgetTerms(allocatable, setup.reserve(), MemoryBytes.ZERO));
            store.append(List.of(first));
            return new Opened(device, store, DeviceLedger.open(first), true);
        }
        DeviceLedger ledger = DeviceLedger.open(past.get(0)).apply(past.subList(1, past.size()));
        if (!ledger.device().equals(device.id())) {
            throw new IOException("the ledger of " + device.id() + " is one of " + ledger.device());
        }
        LOG.info(
                "device={} events={} grants={} ceilings=\"{}\" reason=\"ledger replayed\"",
                device.id(),
                past.size(),
                ledger.grants().size(),
                ledger.ceilings());
        return new Opened(device, store, ledger, false);
    }

    private WorkerHub.DeviceSetup setupOf(Opened device) {
        return new WorkerHub.DeviceSetup(
                device.info(),
                device.ledger().grants().stream().map(Grant::instance).toList(),
                device.isNew()
                        ? Optional.empty()
                        : Optional.of(device.ledger().wanted().foreign()),
                uplink -> LimitKeeper.create(new LimitKeeper.Setup(
                        setup.node(),
                        device.store(),
                        device.ledger(),
                        uplink,
                        turns,
                        setup.settings().tick(),
                        setup.settings().resendAfter(),
                        clock)));
    }

    /** When the start fails: closes what was opened. Keepers close their own ledgers. */
    void abandon() {
        for (Opened device : owned.values()) {
            try {
                device.store().close();
            } catch (IOException e) {
                LOG.debug(
                        "device={} reason=\"ledger did not close: {}\"",
                        device.info().id(),
                        e.getMessage());
            }
        }
        locks.close();
    }
}
