package dev.ullage.worker.probe.smi;

import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The names of a GPU, as far as an output has them.
 *
 * @param name cut off in tables, with three dots at its end
 */
public record SmiGpuId(OptionalInt index, Optional<String> uuid, Optional<String> name, Optional<String> pciBusId) {
    static final SmiGpuId NONE =
            new SmiGpuId(OptionalInt.empty(), Optional.empty(), Optional.empty(), Optional.empty());

    SmiGpuId or(SmiGpuId other) {
        boolean isCut = name.map(text -> text.endsWith("...")).orElse(true);
        return new SmiGpuId(
                index.isPresent() ? index : other.index,
                uuid.or(other::uuid),
                isCut ? other.name.or(() -> name) : name,
                pciBusId.or(other::pciBusId));
    }

    /** By the surest name that both have; two that have none in common are not known to be the same. */
    Optional<Boolean> isSameAs(SmiGpuId other) {
        if (uuid.isPresent() && other.uuid.isPresent()) {
            return Optional.of(uuid.equals(other.uuid));
        }
        if (pciBusId.isPresent() && other.pciBusId.isPresent()) {
            return Optional.of(shortBusId().equals(other.shortBusId()));
        }
        return index.isPresent() && other.index.isPresent() ? Optional.of(index.equals(other.index)) : Optional.empty();
    }

    /** The domain has four or eight digits, by tool and driver. */
    private Optional<String> shortBusId() {
        return pciBusId.map(text -> text.toLowerCase(Locale.ROOT).replaceFirst("^0000(?=[0-9a-f]{4}:)", ""));
    }
}
