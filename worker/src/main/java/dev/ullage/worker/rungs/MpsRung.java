package dev.ullage.worker.rungs;

import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.worker.enforcement.MpsLimit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** MPS: what the process was started with is in force until it ends. Recognised, never changed. */
final class MpsRung implements Rung {
    private static final String PIPES = "CUDA_MPS_PIPE_DIRECTORY";
    private static final String DEFAULT_PIPES = "/tmp/nvidia-mps";

    @Override
    public EnforcedBy name() {
        return EnforcedBy.MPS;
    }

    @Override
    public boolean isLive() {
        return false;
    }

    @Override
    public Attempt probe(RankProcess process) {
        try {
            return find(process);
        } catch (IOException e) {
            return new Impossible("its process cannot be looked at: " + e);
        }
    }

    private static Attempt find(RankProcess process) throws IOException {
        Map<String, String> environment = process.environment();
        String text = environment.get(MpsLimit.VARIABLE);
        if (text == null) {
            return new Impossible("it was started without " + MpsLimit.VARIABLE);
        }
        Path control =
                process.inside(environment.getOrDefault(PIPES, DEFAULT_PIPES)).resolve("control");
        if (!Files.exists(control)) {
            return new Impossible(MpsLimit.VARIABLE + " is set, but no MPS daemon has its pipe at " + control);
        }
        if (process.device().kind() == DeviceKind.MIG) {
            return new Impossible("which MIG instance " + MpsLimit.VARIABLE + " means cannot be told");
        }
        Optional<MemoryBytes> limit =
                MpsLimit.of(text, process.device(), environment.containsKey("CUDA_VISIBLE_DEVICES"));
        return limit.isPresent()
                ? new Possible(ceiling -> limit.get())
                : new Impossible("what " + MpsLimit.VARIABLE + "=" + text + " means for its device cannot be told");
    }

    @Override
    public void clear(RankInstance instance) {
        // It is the process' own, and ends with it.
    }
}
