package dev.ullage.cli.estimate;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.planning.estimate.RankEstimate;
import dev.ullage.coordinator.planning.estimate.Reading;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A rank beside its device.
 *
 * @param rank 0-based; tensor parallelism varies fastest and the pipeline slowest, as in Megatron-LM
 * @param device index into the devices given, which are used in turn
 * @param limit what the rank may use of it
 */
record Fit(int rank, RankEstimate need, Optional<Integer> device, Optional<MemoryBytes> limit) {
    enum Verdict {
        FITS("fits"),
        /** The limit lies inside the interval. */
        MAY_FIT("may fit"),
        DOES_NOT_FIT("does not fit"),
        /** No device was given. */
        OPEN("-");

        private final String text;

        Verdict(String text) {
            this.text = text;
        }

        String text() {
            return text;
        }
    }

    static List<Fit> of(Reading reading, List<RankEstimate> stages, List<MemoryBytes> limits) {
        List<Fit> ranks = new ArrayList<>();
        int each = reading.likely().layout().worldSize() / stages.size();
        for (int rank = 0; rank < each * stages.size(); rank++) {
            RankEstimate need = stages.get(rank / each);
            if (limits.isEmpty()) {
                ranks.add(new Fit(rank, need, Optional.empty(), Optional.empty()));
            } else {
                int device = rank % limits.size();
                ranks.add(new Fit(rank, need, Optional.of(device), Optional.of(limits.get(device))));
            }
        }
        return List.copyOf(ranks);
    }

    Verdict verdict() {
        if (limit.isEmpty()) {
            return Verdict.OPEN;
        }
        if (need.peak().isMoreThan(limit.get())) {
            return Verdict.DOES_NOT_FIT;
        }
        return need.upper().isMoreThan(limit.get()) ? Verdict.MAY_FIT : Verdict.FITS;
    }

    /** Bytes between the limit and the peak; negative when it does not fit. */
    Optional<Long> room() {
        return limit.map(bytes -> bytes.value() - need.peak().value());
    }
}
