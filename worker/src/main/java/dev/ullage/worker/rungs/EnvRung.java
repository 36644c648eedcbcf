package dev.ullage.worker.rungs;

import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import java.io.IOException;
import java.util.Map;

/**
 * What torch's allocator was given at the start of the process, by the client in front of it: a rank whose script knows
 * nothing of Ullage. In force until the process ends. Recognised, never changed.
 *
 * <p>The client sets the variables only for a torch that knows the key, and says what they hold the process to. A
 * fraction that somebody else has set is not taken for ours. A process that has not loaded torch's allocator reads none
 * of it.
 */
final class EnvRung implements Rung {
    static final String HELD = "ULLAGE_HELD_BYTES";
    private static final String CONFIGURATION = "PYTORCH_ALLOC_CONF";
    private static final String KEY = "per_process_memory_fraction:";
    private static final String ALLOCATOR = "libc10_cuda.so";

    @Override
    public EnforcedBy name() {
        return EnforcedBy.ENV;
    }

    @Override
    public boolean isLive() {
        return false;
    }

    @Override
    public Attempt probe(RankProcess process) {
        try {
            Map<String, String> environment = process.environment();
            String held = environment.get(HELD);
            if (held == null || !environment.getOrDefault(CONFIGURATION, "").contains(KEY)) {
                return new Impossible("its framework was given no limit at its start");
            }
            if (!held.matches("\\d{1,18}")) {
                return new Impossible(HELD + "=" + held + " is no amount");
            }
            return process.hasLoaded(ALLOCATOR)
                    ? new Possible(ceiling -> MemoryBytes.of(Long.parseLong(held)))
                    : new Impossible("its variables would hold torch, but it has not loaded " + ALLOCATOR);
        } catch (IOException e) {
            return new Impossible("its process cannot be looked at: " + e);
        }
    }

    @Override
    public void clear(RankInstance instance) {
        // It is the process' own, and ends with it.
    }
}
