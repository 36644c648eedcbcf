package dev.ullage.worker.limits;

import static dev.ullage.common.testing.DeviceBuilder.aDevice;
import static dev.ullage.common.testing.Fixtures.limits;
import static dev.ullage.common.testing.Fixtures.rank;
import static dev.ullage.common.testing.Fixtures.token;
import static dev.ullage.common.testing.Reservations.id;
import static dev.ullage.common.testing.Reservations.reservation;

import dev.ullage.common.ledger.Grant;
import dev.ullage.common.ledger.HeldReservation;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.model.JobRequest.HostNeed;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.Share;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** One event of each kind, with what stands for it in a ledger file. */
final class LedgerEvents {
    private static final String RANK =
            "{\"rank\":{\"job\":{\"value\":\"job\"},\"rank\":0},\"pid\":100,\"startTicks\":700}";
    private static final String TERMS = "{\"allocatable\":{\"value\":107374182400},\"reserve\":{\"basisPoints\":2000},"
            + "\"foreign\":{\"value\":0},\"pool\":null}";
    private static final String TERMS_WITH_POOL = TERMS.replace("null", "{\"value\":9}");
    private static final String TOKEN = "{\"epoch\":3,\"uid\":\"c3\"}";
    private static final String LIMITS = "{\"init\":{\"value\":5},\"forward\":{\"value\":5},\"backward\":{\"value\":5},"
            + "\"optimizer\":{\"value\":7},\"evaluation\":{\"value\":5},\"checkpoint\":{\"value\":5},"
            + "\"idle\":{\"value\":5}}";

    private static final String RESERVATION_ID =
            "{\"job\":{\"value\":\"gang\"},\"token\":{\"epoch\":1,\"uid\":\"c1\"},\"number\":2}";
    private static final String RESERVATION = "{\"id\":" + RESERVATION_ID + ",\"priority\":\"MEDIUM\",\"parts\":["
            + part("GPU-a", 9) + "," + part("GPU-b", 8)
            + "],\"host\":{\"memory\":{\"value\":1048576},\"cpuMilli\":500}}";

    private LedgerEvents() {}

    private static String part(String device, long amount) {
        return "{\"node\":{\"value\":\"node-a\"},\"device\":{\"value\":\"" + device + "\"},\"amount\":{\"value\":"
                + amount + "},\"ranks\":1}";
    }

    static Map<LedgerEvent, String> samples() {
        Map<LedgerEvent, String> samples = new LinkedHashMap<>();
        samples.put(
                aDevice().opened(), "{\"event\":\"opened\",\"device\":{\"value\":\"GPU-a\"},\"terms\":" + TERMS + "}");
        samples.put(new LedgerEvent.TokenSeen(token(3)), "{\"event\":\"token-seen\",\"token\":" + TOKEN + "}");
        samples.put(
                new LedgerEvent.TermsWanted(aDevice().terms().withPool(Optional.of(MemoryBytes.of(9)))),
                "{\"event\":\"terms-wanted\",\"terms\":" + TERMS_WITH_POOL + "}");
        samples.put(new LedgerEvent.TermsInForce(), "{\"event\":\"terms-in-force\"}");
        samples.put(new LedgerEvent.RankJoined(rank(0)), "{\"event\":\"rank-joined\",\"instance\":" + RANK + "}");
        samples.put(
                new LedgerEvent.RankAdopted(rank(0), 4, MemoryBytes.of(9)),
                "{\"event\":\"rank-adopted\",\"instance\":" + RANK + ",\"sequence\":4,\"ceiling\":{\"value\":9}}");
        samples.put(
                new LedgerEvent.LimitOrdered(
                        rank(0), 5, limits(MemoryBytes.of(5), MemoryBytes.of(7)), Share.ofPercent(50)),
                "{\"event\":\"limit-ordered\",\"instance\":" + RANK + ",\"sequence\":5,\"limits\":" + LIMITS
                        + ",\"share\":{\"basisPoints\":5000}}");
        samples.put(
                new LedgerEvent.LimitConfirmed(rank(0), 5, MemoryBytes.of(7)),
                "{\"event\":\"limit-confirmed\",\"instance\":" + RANK + ",\"sequence\":5,\"ceiling\":{\"value\":7}}");
        samples.put(new LedgerEvent.RankLeft(rank(0)), "{\"event\":\"rank-left\",\"instance\":" + RANK + "}");
        samples.put(
                new LedgerEvent.ReservationMade(gang()),
                "{\"event\":\"reservation-made\",\"reservation\":" + RESERVATION + "}");
        samples.put(
                new LedgerEvent.ReservationCommitted(id("gang", 2)),
                "{\"event\":\"reservation-committed\",\"id\":" + RESERVATION_ID + "}");
        samples.put(
                new LedgerEvent.ReservationReleased(id("gang", 2)),
                "{\"event\":\"reservation-released\",\"id\":" + RESERVATION_ID + "}");
        samples.put(
                new LedgerEvent.ReservationExpired(id("gang", 2)),
                "{\"event\":\"reservation-expired\",\"id\":" + RESERVATION_ID + "}");
        samples.put(
                snapshot(),
                "{\"event\":\"snapshot\",\"device\":{\"value\":\"GPU-a\"},\"highestToken\":" + TOKEN + ",\"wanted\":"
                        + TERMS + ",\"inForce\":" + TERMS + ",\"grants\":[{\"instance\":" + RANK
                        + ",\"share\":{\"basisPoints\":10000},\"target\":" + LIMITS
                        + ",\"sequence\":5,\"confirmedSequence\":4,\"ceiling\":{\"value\":9}}]"
                        + ",\"reservations\":[{\"reservation\":" + RESERVATION + ",\"committed\":true}]}");
        return samples;
    }

    static LedgerEvent.Snapshot snapshot() {
        Grant grant = new Grant(
                rank(0), Share.ALL, Optional.of(limits(MemoryBytes.of(5), MemoryBytes.of(7))), 5, 4, MemoryBytes.of(9));
        return new LedgerEvent.Snapshot(
                aDevice().opened().device(),
                Optional.of(token(3)),
                aDevice().terms(),
                aDevice().terms(),
                List.of(grant),
                Optional.of(List.of(new HeldReservation(gang(), true))));
    }

    private static Reservation gang() {
        return reservation("gang", 2, MemoryBytes.of(9), MemoryBytes.of(8))
                .with(new HostNeed(Optional.of(MemoryBytes.ofMebibytes(1)), OptionalInt.of(500)));
    }
}
