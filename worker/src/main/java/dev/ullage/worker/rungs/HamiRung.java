package dev.ullage.worker.rungs;

import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;

/**
 * HAMi-core: a library preloaded into the rank refuses what goes beyond the limit in a region shared with it. The
 * region is one per container, so a rank is held by it only when it has one of its own.
 */
final class HamiRung implements Rung {
    static final String LIBRARY = "libvgpu.so";
    static final String CACHE = "CUDA_DEVICE_MEMORY_SHARED_CACHE";
    static final String DEFAULT_CACHE = "/tmp/cudevshr.cache";

    /** The regions of the ranks it was asked about, to know who shares one. */
    private final Map<RankInstance, Object> regions = new TreeMap<>();

    @Override
    public EnforcedBy name() {
        return EnforcedBy.HAMI_CORE;
    }

    @Override
    public Attempt probe(RankProcess process) {
        try {
            return find(process);
        } catch (IOException e) {
            return new Impossible("its process cannot be looked at: " + e);
        }
    }

    private Attempt find(RankProcess process) throws IOException {
        if (process.device().kind() == DeviceKind.MIG) {
            return new Impossible("HAMi-core does not limit MIG instances");
        }
        if (!process.hasLoaded(LIBRARY)) {
            return new Impossible("HAMi-core is not loaded into it (" + LIBRARY + " by LD_PRELOAD)");
        }
        Map<String, String> environment = process.environment();
        Path file = process.inside(environment.getOrDefault(CACHE, DEFAULT_CACHE));
        Object key;
        try {
            if (!Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS).equals(process.user())) {
                return new Impossible("the region " + file + " belongs to another user than the rank");
            }
            key = Files.getAttribute(file, "fileKey", LinkOption.NOFOLLOW_LINKS);
        } catch (NoSuchFileException e) {
            return new Impossible("its region " + file + " does not exist yet");
        }
        regions.put(process.instance(), key);
        Optional<RankInstance> other = sharer(process.instance());
        return other.isPresent()
                ? new Impossible("it shares the region " + file + " with rank "
                        + other.get().rank() + ", and HAMi-core limits the sum")
                : grip(process, environment, file);
    }

    private Attempt grip(RankProcess process, Map<String, String> environment, Path file) {
        try {
            HamiRegion region = HamiRegion.map(file);
            OptionalInt slot = region.slot(process.device().id());
            if (slot.isEmpty()) {
                return new Impossible("the region " + file + " does not name device "
                        + process.device().id());
            }
            if (region.devices() > 1 && environment.containsKey("CUDA_VISIBLE_DEVICES")) {
                return new Impossible("it has CUDA_VISIBLE_DEVICES and several devices: HAMi-core then counts them"
                        + " by CUDA's order in one place and by NVML's in another");
            }
            return new Possible(new RegionGrip(process.instance(), region, slot.getAsInt()));
        } catch (IOException e) {
            return new Impossible("the region " + file + " cannot be used: " + e.getMessage());
        }
    }

    private Optional<RankInstance> sharer(RankInstance instance) {
        return regions.entrySet().stream()
                .filter(entry -> !entry.getKey().equals(instance))
                .filter(entry -> entry.getValue().equals(regions.get(instance)))
                .map(Map.Entry::getKey)
                .findFirst();
    }

    @Override
    public void clear(RankInstance instance) {
        regions.remove(instance);
    }

    /** A limit below what is used would make every later question about free memory fail, and 0 would be none. */
    private final class RegionGrip implements Grip {
        private final RankInstance instance;
        private final HamiRegion region;
        private final int slot;

        RegionGrip(RankInstance instance, HamiRegion region, int slot) {
            this.instance = instance;
            this.region = region;
            this.slot = slot;
        }

        @Override
        public MemoryBytes apply(MemoryBytes limit) throws IOException {
            Optional<RankInstance> other = sharer(instance);
            if (other.isPresent()) {
                throw new IOException("rank " + other.get().rank() + " shares its region now");
            }
            try {
                MemoryBytes wanted = limit.max(region.used(slot)).max(MemoryBytes.of(1));
                if (!region.limit(slot).equals(wanted)) {
                    region.setLimit(slot, wanted);
                }
                return region.limit(slot);
            } catch (InternalError e) {
                // What Java makes of a mapped file that somebody cut short.
                throw new IOException("its region was cut short", e);
            }
        }
    }
}
