package dev.ullage.worker.sampling;

import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.MemoryBytes;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What a device's readings mean for its ledger: how much can be promised, and how much strangers hold. Owned by the
 * hub's thread; soft.
 */
public final class DeviceTerms {
    /** What a host has available moves all the time; a step of this size is worth a line in the ledger. */
    static final MemoryBytes SHARED_STEP = MemoryBytes.ofMebibytes(256);

    /** What is said again though nothing changed: nobody waits for it, and nothing is lost when it is. */
    static final Duration REPEAT = Duration.ofSeconds(10);

    /** What a ledger plans with. */
    public record Planned(MemoryBytes allocatable, MemoryBytes foreign) {}

    private final DeviceKind kind;
    private Optional<Planned> told = Optional.empty();
    private Instant toldAt = Instant.EPOCH;
    private Optional<SteadyAmount> allocatable = Optional.empty();
    private Optional<SteadyAmount> foreign = Optional.empty();
    private final SteadyBound bound = new SteadyBound();

    public DeviceTerms(DeviceKind kind) {
        this.kind = kind;
    }

    /** @param lastKnown foreign memory, as the ledger that was replayed has it */
    public DeviceTerms(DeviceKind kind, Optional<MemoryBytes> lastKnown) {
        this.kind = kind;
        this.foreign = lastKnown.map(SteadyAmount::of);
    }

    /** The allocatable memory to plan with: to the byte on a device with memory of its own, in steps on another. */
    public MemoryBytes allocatable(MemoryUse memory) {
        if (kind != DeviceKind.UNIFIED) {
            return memory.allocatable();
        }
        long bytes = memory.allocatable().value();
        MemoryBytes measured = MemoryBytes.of(bytes - bytes % SHARED_STEP.value());
        SteadyAmount next = allocatable
                .map(known -> known.slowToRise(measured, SHARED_STEP))
                .orElseGet(() -> SteadyAmount.of(measured));
        allocatable = Optional.of(next);
        return next.held();
    }

    /**
     * The foreign memory to plan with: as measured, but slow to fall; by its bounds where it is not told; the last
     * known where these are not known either, and 0 only before anything was.
     */
    public MemoryBytes foreign(Optional<MemoryBytes> measured, Optional<ForeignBounds> bounds) {
        Optional<MemoryBytes> known = foreign.map(SteadyAmount::held);
        if (measured.isPresent()) {
            bound.forget();
        }
        measured.or(() -> bounds.map(between -> bound.next(between, known))).ifPresent(amount -> {
            foreign = Optional.of(foreign.map(held -> held.slowToFall(amount, ForeignMemory.GRANULE))
                    .orElseGet(() -> SteadyAmount.of(amount)));
        });
        return foreign.map(SteadyAmount::held).orElse(MemoryBytes.ZERO);
    }

    /** For people: what is planned with where foreign memory is not told. */
    public List<String> notes(Optional<ForeignBounds> bounds) {
        MemoryBytes planned = foreign.map(SteadyAmount::held).orElse(MemoryBytes.ZERO);
        return bounds.map(between -> between.text(planned)).stream().toList();
    }

    /** Whether it depends on how many of the next readings agree with the last, what is planned with. */
    public boolean isCounting() {
        return allocatable.filter(SteadyAmount::isCounting).isPresent()
                || foreign.filter(SteadyAmount::isCounting).isPresent()
                || bound.isCounting();
    }

    /** The device can hold nothing any more; should it come back, all is read anew. */
    public void retired() {
        told = Optional.empty();
        allocatable = Optional.empty();
        foreign = Optional.empty();
        bound.forget();
    }

    /**
     * What the ledger is to be told of a reading: most say what it knows already.
     *
     * @param memory the device's
     * @param measured foreign memory, when it could be worked out
     * @param bounds of it, when it could not
     */
    public Optional<Planned> news(
            MemoryUse memory, Optional<MemoryBytes> measured, Optional<ForeignBounds> bounds, Instant now) {
        Planned planned = new Planned(allocatable(memory), foreign(measured, bounds));
        if (told.equals(Optional.of(planned)) && Duration.between(toldAt, now).compareTo(REPEAT) < 0) {
            return Optional.empty();
        }
        told = Optional.of(planned);
        toldAt = now;
        return told;
    }
}
