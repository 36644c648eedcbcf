package dev.ullage.coordinator.planning;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankWatch.PhasePeak;
import dev.ullage.coordinator.planning.KeptRoom.JobRoom;
import dev.ullage.coordinator.planning.KeptRoom.WantedRoom;
import dev.ullage.coordinator.planning.Shares.RankShare;
import dev.ullage.coordinator.planning.WaterFilling.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * How the ranks of a device share it where room on it is kept for jobs as a whole, or wanted for one.
 *
 * <pre>
 *   rank of a job with a reservation : amount / ranks of its reservation, no more together than the budget
 *   any other rank                   : by its policy, of budget - all that is reserved, whether it is taken or not
 *   of these, ranks of a lower priority than a job that wants room:
 *     max(floor, less) where less makes room for what is not free without it, taken from the largest first
 *     floor = max(minimum limit, what it holds, and held at most in its last steps); unknown: all it has
 * </pre>
 */
final class RoomShares {
    private final LimitPolicy policy;
    private final MemoryBytes minimum;

    /** @param minimum what every rank needs to run at all */
    RoomShares(LimitPolicy policy, MemoryBytes minimum) {
        this.policy = policy;
        this.minimum = minimum;
    }

    /** In the order in which growth is to be considered: first who was promised its room. */
    List<RankShare> share(DeviceInput input) {
        if (input.room().isEmpty()) {
            return policy.share(new PlanningInput(input.device(), input.terms(), input.requests()))
                    .ranks();
        }
        KeptRoom room = input.room().get();
        List<RankRequest> others = input.requests().stream()
                .filter(rank -> reserved(rank, room).isEmpty())
                .toList();
        PlanningInput left = new PlanningInput(input.device(), input.terms(), others, others.size(), room.total());
        List<RankShare> shares = new ArrayList<>(ofReserved(input, room));
        List<RankShare> byPolicy = policy.share(left).ranks().stream()
                .map(share -> noting(share, room))
                .toList();
        shares.addAll(room.wanted()
                .map(wanted -> makingRoom(byPolicy, wanted, left.budget()))
                .orElse(byPolicy));
        return shares;
    }

    private static Optional<JobRoom> reserved(RankRequest rank, KeptRoom room) {
        return room.of(rank.instance().rank().job());
    }

    private List<RankShare> ofReserved(DeviceInput input, KeptRoom room) {
        List<RankRequest> ranks = input.requests().stream()
                .filter(rank -> reserved(rank, room).isPresent())
                .toList();
        List<Request> requests = ranks.stream()
                .map(rank -> reserved(rank, room).orElseThrow())
                .map(own -> new Request(own.perRank().max(minimum), 1))
                .toList();
        List<MemoryBytes> parts = WaterFilling.fill(requests, input.terms().budget());
        List<RankShare> shares = new ArrayList<>();
        for (int i = 0; i < ranks.size(); i++) {
            JobRoom own = reserved(ranks.get(i), room).orElseThrow();
            String rule = "reserved for its job: %s for %d rank%s here is %s each"
                    .formatted(own.amount(), own.ranks(), own.ranks() == 1 ? "" : "s", own.perRank());
            String cut = requests.get(i).amount().equals(parts.get(i))
                    ? ""
                    : ", but the budget is %s: %s is left for it"
                            .formatted(input.terms().budget(), parts.get(i));
            shares.add(RankShare.fair(ranks.get(i), parts.get(i), rule + cut));
        }
        return shares;
    }

    private static RankShare noting(RankShare share, KeptRoom room) {
        return room.reserved().isEmpty() ? share : share.because(share.reason() + "; " + room.reservedText());
    }

    /** @param budget what all of the shares may come to */
    private List<RankShare> makingRoom(List<RankShare> shares, WantedRoom wanted, MemoryBytes budget) {
        MemoryBytes taken = sum(shares.stream().map(RankShare::limit));
        MemoryBytes missing = wanted.amount().minusOrZero(budget.minusOrZero(taken));
        List<RankShare> lower =
                shares.stream().filter(share -> isLower(share, wanted)).toList();
        MemoryBytes aboveFloors = sum(lower.stream().map(this::aboveFloor));
        if (missing.isZero() || aboveFloors.isZero()) {
            return shares;
        }
        List<MemoryBytes> kept = WaterFilling.fill(
                lower.stream().map(share -> new Request(aboveFloor(share), 1)).toList(),
                aboveFloors.minusOrZero(missing));
        List<RankShare> result = new ArrayList<>();
        int next = 0;
        for (RankShare share : shares) {
            result.add(isLower(share, wanted) ? shrunk(share, kept.get(next++), wanted) : share);
        }
        return result;
    }

    private static boolean isLower(RankShare share, WantedRoom wanted) {
        return share.rank().terms().priority().compareTo(wanted.priority()) > 0;
    }

    private RankShare shrunk(RankShare share, MemoryBytes keptAboveFloor, WantedRoom wanted) {
        MemoryBytes limit = share.limit().minus(aboveFloor(share)).plus(keptAboveFloor);
        return limit.equals(share.limit())
                ? share
                : share.at(
                        limit,
                        "%s; asked to make room: %s wanted, priority here %s: %s -> %s (floor %s)"
                                .formatted(
                                        share.reason(),
                                        wanted,
                                        share.rank().terms().priority(),
                                        share.limit(),
                                        limit,
                                        share.limit().minus(aboveFloor(share))));
    }

    /** What may be taken of it; nothing of a rank of which nobody knows what it holds. */
    private MemoryBytes aboveFloor(RankShare share) {
        return held(share.rank().observed())
                .map(held -> share.limit().minusOrZero(held.max(minimum)))
                .orElse(MemoryBytes.ZERO);
    }

    /**
     * The most that the rank held lately: less would make it run out in a phase that comes again. Where its steps are
     * not watched, the most it ever held counts.
     */
    static Optional<MemoryBytes> held(RankObserved observed) {
        Optional<MemoryBytes> inSteps = observed.watch().stream()
                .flatMap(watch -> watch.phases().stream())
                .map(PhasePeak::held)
                .flatMap(Optional::stream)
                .max(MemoryBytes::compareTo);
        return Stream.of(observed.held(), inSteps.or(observed::peakReserved))
                .flatMap(Optional::stream)
                .max(MemoryBytes::compareTo);
    }

    private static MemoryBytes sum(Stream<MemoryBytes> amounts) {
        return amounts.reduce(MemoryBytes.ZERO, MemoryBytes::plus);
    }
}
