package dev.ullage.common.testing;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.ReservedPart;
import java.util.ArrayList;
import java.util.List;

/** Reservations for tests: a part of one rank on each of {@code GPU-a}, {@code GPU-b} and so on, of {@code node-a}. */
public final class Reservations {
    private Reservations() {}

    public static ReservationId id(String job, long number) {
        return new ReservationId(new JobId(job), Fixtures.token(1), number);
    }

    public static Reservation reservation(String job, long number, MemoryBytes... amounts) {
        List<ReservedPart> parts = new ArrayList<>();
        for (int i = 0; i < amounts.length; i++) {
            parts.add(new ReservedPart(new NodeId("node-a"), new DeviceId("GPU-" + (char) ('a' + i)), amounts[i], 1));
        }
        return new Reservation(id(job, number), Priority.MEDIUM, parts);
    }

    /** A process of that job. */
    public static RankInstance rankOf(String job, int number) {
        long pid = 1000 + 10L * Math.floorMod(job.hashCode(), 1000) + number;
        return new RankInstance(new RankId(new JobId(job), number), pid, 7 * pid);
    }
}
