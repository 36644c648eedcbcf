package dev.ullage.coordinator.planning;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What of a device is not for everybody: what its ledger keeps for jobs as a whole, and what the queue would like to.
 *
 * @param reserved one for each reservation in the ledger
 * @param wanted what lower priorities are asked to make room for; nothing rests on it
 */
public record KeptRoom(List<JobRoom> reserved, Optional<WantedRoom> wanted) {
    public KeptRoom {
        reserved = List.copyOf(reserved);
    }

    /**
     * One reservation's part of the device.
     *
     * @param ranks of the job on this device, 1 or more
     */
    public record JobRoom(JobId job, MemoryBytes amount, int ranks) {

        /** What each of its ranks is given. */
        public MemoryBytes perRank() {
            return amount.dividedBy(ranks);
        }
    }

    /**
     * A job waits for so much of a device, and what jobs of lower priority have there beyond their floor may be taken
     * for it. Soft: said again with each plan, for as long as it is wanted.
     */
    public record WantedRoom(JobId job, Priority priority, MemoryBytes amount) {

        @Override
        public String toString() {
            return amount + " for job " + job + " (priority " + priority + ")";
        }
    }

    /** Empty where nothing is kept, nor wanted: everybody shares the device as ever. */
    static Optional<KeptRoom> of(DeviceId device, LedgerReport ledger, Optional<WantedRoom> wanted) {
        List<JobRoom> reserved = ledger.reservations().orElse(List.of()).stream()
                .flatMap(report ->
                        report
                                .reservation()
                                .part(device)
                                .map(part -> room(report.reservation().id().job(), part))
                                .stream())
                .toList();
        return Optional.of(new KeptRoom(reserved, wanted)).filter(room -> !room.isNothing());
    }

    private static JobRoom room(JobId job, ReservedPart part) {
        return new JobRoom(job, part.amount(), part.ranks());
    }

    private boolean isNothing() {
        return reserved.isEmpty() && wanted.isEmpty();
    }

    /** All that is reserved, whether its ranks are there or not. */
    MemoryBytes total() {
        return reserved.stream().map(JobRoom::amount).reduce(MemoryBytes.ZERO, MemoryBytes::plus);
    }

    /** What is reserved for the job; of two reservations, the one that gives its ranks more. */
    Optional<JobRoom> of(JobId job) {
        return reserved.stream().filter(room -> room.job().equals(job)).max((one, other) -> one.perRank()
                .compareTo(other.perRank()));
    }

    /** For explanations: {@code 30.0 GiB reserved for job bert}. */
    String reservedText() {
        return total() + " reserved for "
                + reserved.stream().map(room -> "job " + room.job()).distinct().collect(Collectors.joining(", "));
    }
}
