package dev.ullage.worker.rungs;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.worker.probe.DriverLimits;
import dev.ullage.worker.rungs.LeafList.Leaf;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver's memory limits, which are on a cgroup: a rank is held by them when a cgroup holds its processes and no
 * others. Where it shares one, a leaf below that is made for it and the process moved there, so it stays within
 * everything that holds for the cgroup it came from.
 */
final class DriverRung implements Rung {
    static final String PREFIX = "ullage-rank-";

    private static final Logger LOG = LoggerFactory.getLogger(DriverRung.class);

    private final DriverLimits limits;
    private final Cgroups cgroups;
    private final LeafList leaves;
    private final Map<RankInstance, Leaf> held = new TreeMap<>();

    DriverRung(DriverLimits limits, Cgroups cgroups, LeafList leaves) {
        this.limits = limits;
        this.cgroups = cgroups;
        this.leaves = leaves;
    }

    /** Gives back the limits that an earlier worker left on cgroups nobody is in any more, and deletes its leaves. */
    void sweep() {
        try {
            for (Leaf leaf : leaves.all()) {
                deleteUnlessUsed(leaf);
            }
        } catch (IOException e) {
            LOG.warn("reason=\"the list of cgroups limited for ranks cannot be read: {}\"", e.toString());
        }
    }

    @Override
    public EnforcedBy name() {
        return EnforcedBy.DRIVER;
    }

    @Override
    public Attempt probe(RankProcess process) {
        DeviceId device = process.device().id();
        if (process.device().kind() == DeviceKind.MIG) {
            return new Impossible("the driver has no memory limits for MIG instances");
        }
        Path now;
        try {
            now = cgroups.of(process.instance().pid());
            limits.get(device, now);
        } catch (IOException e) {
            return new Impossible("the driver's memory limits cannot be had: " + e.getMessage());
        }
        try {
            boolean isOwn = cgroups.isOnlyOf(now, process.instance().pid());
            if (isOwn && limits.get(device, now).hard().isPresent() && !leaves.has(now)) {
                return new Impossible("its cgroup " + now + " has a limit that somebody else set");
            }
            Leaf leaf = isOwn ? listed(new Leaf(device, now)) : leafBelow(now, process);
            held.put(process.instance(), leaf);
            return new Possible(new CgroupGrip(process.instance().pid(), leaf));
        } catch (IOException e) {
            return new Impossible("it shares the cgroup %s with other processes, and none can be made for it alone: %s"
                    .formatted(now, e));
        }
    }

    private Leaf listed(Leaf leaf) throws IOException {
        leaves.add(leaf);
        return leaf;
    }

    private Leaf leafBelow(Path shared, RankProcess process) throws IOException {
        RankInstance instance = process.instance();
        String name = PREFIX + instance.toString().replaceAll("[^A-Za-z0-9_.-]", "_");
        Leaf leaf = listed(new Leaf(process.device().id(), shared.resolve(name)));
        try {
            Files.createDirectories(leaf.cgroup());
            // What the driver would refuse there, it is asked before the process is moved.
            limits.clear(leaf.device(), leaf.cgroup());
            cgroups.move(instance.pid(), leaf.cgroup());
        } catch (IOException e) {
            deleteUnlessUsed(leaf);
            throw e;
        }
        LOG.info("rank={} cgroup={} reason=\"made for it, to limit its device memory\"", instance, leaf.cgroup());
        return leaf;
    }

    @Override
    public void clear(RankInstance instance) {
        Leaf leaf = held.remove(instance);
        if (leaf != null && leaves.has(leaf.cgroup())) {
            deleteUnlessUsed(leaf);
        }
    }

    private void deleteUnlessUsed(Leaf leaf) {
        try {
            if (Files.isDirectory(leaf.cgroup())) {
                if (!cgroups.processes(leaf.cgroup()).isEmpty()) {
                    return;
                }
                giveBack(leaf);
                if (isMade(leaf)) {
                    Files.delete(leaf.cgroup());
                }
            }
            leaves.remove(leaf.cgroup());
        } catch (IOException e) {
            LOG.warn(
                    "cgroup={} reason=\"limited for a rank that is gone, and that cannot be given back: {}\"",
                    leaf.cgroup(),
                    e);
        }
    }

    private static boolean isMade(Leaf leaf) {
        return String.valueOf(leaf.cgroup().getFileName()).startsWith(PREFIX);
    }

    /** Before the cgroup is gone, or its ancestors keep the guarantee as used up. */
    private void giveBack(Leaf leaf) throws IOException {
        DriverLimits.Limits now = limits.get(leaf.device(), leaf.cgroup());
        if (!now.soft().isZero() || now.hard().isPresent()) {
            limits.clear(leaf.device(), leaf.cgroup());
        }
    }

    /** Asks for a limit once, not again and again because the driver made another amount of it. */
    private final class CgroupGrip implements Grip {
        private final long pid;
        private final Leaf leaf;
        private Optional<MemoryBytes> asked = Optional.empty();
        private Optional<MemoryBytes> answered = Optional.empty();

        CgroupGrip(long pid, Leaf leaf) {
            this.pid = pid;
            this.leaf = leaf;
        }

        @Override
        public MemoryBytes apply(MemoryBytes limit) throws IOException {
            if (!cgroups.of(pid).equals(leaf.cgroup()) || !cgroups.isOnlyOf(leaf.cgroup(), pid)) {
                throw new IOException("its cgroup is another now, or shared");
            }
            DriverLimits.Limits now = limits.get(leaf.device(), leaf.cgroup());
            Optional<MemoryBytes> wanted = Optional.of(limit.max(now.used()));
            if (!wanted.equals(asked) || !now.hard().equals(answered)) {
                limits.set(leaf.device(), leaf.cgroup(), wanted.get());
                asked = wanted;
                answered = limits.get(leaf.device(), leaf.cgroup()).hard();
            }
            return answered.orElseThrow(
                    () -> new IOException("the driver took a limit of " + wanted.get() + " and reports none"));
        }
    }
}
