package dev.ullage.worker.enforcement;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankEnforcement.Overhead;
import java.time.Instant;
import java.util.Optional;

/**
 * What a rank's process uses beside its framework's allocator: {@code use by the driver - reserved by the framework}.
 * Immutable, pure.
 *
 * <p>The two are told by different sides at different times, and a training may take gigabytes in between. So a reading
 * of the driver counts only when the rank reported the same reserved amount before and after it: torch keeps what it
 * reserves, so it was the same at the reading too. During INIT nothing is measured, for the context and the
 * communication buffers are still being made.
 *
 * <p>Steady: the first measurement replaces the default at once; more counts when it was measured twice in a row, less
 * when it was measured {@link #PATIENCE} times in a row and by more than one step. Amounts are rounded up to
 * {@link #GRANULE}, so an allocator gets rather less than more.
 *
 * @param measured the overhead that counts, once there is one
 * @param higher the smallest of the measurements above it since the last that was not
 * @param lower how many measurements in a row were below it
 * @param said what the rank last reported as reserved, and when
 * @param reading the newest use by the driver since then
 */
public record OverheadEstimate(
        Optional<MemoryBytes> measured,
        Optional<MemoryBytes> higher,
        int lower,
        Optional<At> said,
        Optional<At> reading) {
    /** A change below this is noise to a training. */
    public static final MemoryBytes GRANULE = MemoryBytes.ofMebibytes(16);

    static final int PATIENCE = 10;

    public static final OverheadEstimate UNKNOWN =
            new OverheadEstimate(Optional.empty(), Optional.empty(), 0, Optional.empty(), Optional.empty());

    /** An amount and when it was read, by the worker's clock. */
    record At(MemoryBytes amount, Instant at) {}

    /** The driver told what the rank's processes use. */
    public OverheadEstimate read(MemoryBytes used, Instant at) {
        boolean isSince = said.isPresent() && at.isAfter(said.get().at());
        return isSince ? new OverheadEstimate(measured, higher, lower, said, Optional.of(new At(used, at))) : this;
    }

    /**
     * The rank reported its use.
     *
     * @param reserved what its framework took from the device; empty: not known
     * @param isInitialised whether it is past INIT
     */
    public OverheadEstimate reported(Optional<MemoryBytes> reserved, boolean isInitialised, Instant at) {
        Optional<MemoryBytes> between = isInitialised ? between(reserved) : Optional.empty();
        OverheadEstimate next = between.map(this::measured).orElse(this);
        return new OverheadEstimate(
                next.measured, next.higher, next.lower, reserved.map(amount -> new At(amount, at)), Optional.empty());
    }

    /** The overhead to go by: measured, else the default, marked as such; empty without either. */
    public Optional<Overhead> inForce(Optional<MemoryBytes> byDefault) {
        return measured.map(bytes -> new Overhead(bytes, false))
                .or(() -> byDefault.map(bytes -> new Overhead(bytes, true)));
    }

    /** Empty where the amounts are not known, changed meanwhile, or contradict each other. */
    private Optional<MemoryBytes> between(Optional<MemoryBytes> reserved) {
        boolean isUnchanged = reserved.isPresent() && reserved.equals(said.map(At::amount));
        return isUnchanged
                ? reading.map(At::amount)
                        .filter(used -> !reserved.get().isMoreThan(used))
                        .map(used -> used.minus(reserved.get()).roundedUpTo(GRANULE))
                : Optional.empty();
    }

    private OverheadEstimate measured(MemoryBytes now) {
        if (measured.isEmpty() || now.equals(measured.get())) {
            return with(now, Optional.empty(), 0);
        }
        MemoryBytes known = measured.get();
        if (now.isMoreThan(known)) {
            return higher.isPresent()
                    ? with(now.min(higher.get()), Optional.empty(), 0)
                    : with(known, Optional.of(now), 0);
        }
        if (known.minus(now).equals(GRANULE)) {
            return with(known, Optional.empty(), 0);
        }
        return lower + 1 >= PATIENCE ? with(now, Optional.empty(), 0) : with(known, Optional.empty(), lower + 1);
    }

    private OverheadEstimate with(MemoryBytes now, Optional<MemoryBytes> above, int below) {
        return new OverheadEstimate(Optional.of(now), above, below, said, reading);
    }
}
