package dev.ullage.coordinator.evenness;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.Evenness.FarDevice;
import dev.ullage.common.protocol.Evenness.MoveSuggestion;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Which rank would be better off on which device. From the fullest device that is far above the mean, the rank whose
 * move brings the fuller of the two devices down the most; then again, with that move made. Nothing is moved.
 */
final class MoveRule {
    private static final int MAX_MOVES = 8;

    private final List<LoadedDevice> devices;
    private final Share unevenFrom;
    private final Share gainFrom;

    private MoveRule(List<LoadedDevice> devices, Share unevenFrom, Share gainFrom) {
        this.devices = new ArrayList<>(devices);
        this.unevenFrom = unevenFrom;
        this.gainFrom = gainFrom;
    }

    /** The devices far above or below the mean. */
    static List<FarDevice> far(List<LoadedDevice> devices, Share unevenFrom) {
        int mean = mean(devices);
        return devices.stream()
                .filter(device -> Math.abs((long) device.fill() - mean) >= unevenFrom.basisPoints())
                .map(device -> new FarDevice(device.node(), device.device(), device.fill(), mean))
                .toList();
    }

    static List<MoveSuggestion> suggest(List<LoadedDevice> devices, Share unevenFrom, Share gainFrom) {
        return new MoveRule(devices, unevenFrom, gainFrom).suggest();
    }

    private List<MoveSuggestion> suggest() {
        List<MoveSuggestion> moves = new ArrayList<>();
        while (moves.size() < MAX_MOVES) {
            Optional<Move> next = next();
            if (next.isEmpty()) {
                return moves;
            }
            moves.add(next.get().suggestion(mean(devices)));
            apply(next.get());
        }
        return moves;
    }

    private void apply(Move move) {
        devices.replaceAll(device -> device.device().equals(move.from().device())
                ? device.without(move.rank())
                : device.device().equals(move.to().device()) ? device.with(move.rank(), move.need()) : device);
    }

    private Optional<Move> next() {
        int mean = mean(devices);
        return devices.stream()
                .max(Comparator.comparingInt(LoadedDevice::fill))
                .filter(fullest -> (long) fullest.fill() - mean >= unevenFrom.basisPoints())
                .flatMap(this::best);
    }

    private Optional<Move> best(LoadedDevice from) {
        List<Move> moves = new ArrayList<>();
        for (Map.Entry<RankInstance, MemoryBytes> rank : from.needs().entrySet()) {
            for (LoadedDevice to : devices) {
                boolean fits = !to.device().equals(from.device())
                        && !to.hosts(rank.getKey().rank().job())
                        && !to.load().plus(rank.getValue()).isMoreThan(to.most());
                if (fits) {
                    moves.add(new Move(rank.getKey(), rank.getValue(), from, to, devices.size()));
                }
            }
        }
        return moves.stream()
                .filter(move -> from.fill() - move.fullerThen() >= gainFrom.basisPoints())
                .min(Comparator.comparingInt(Move::fullerThen).thenComparingLong(Move::sumChange));
    }

    private static int mean(List<LoadedDevice> devices) {
        long sum = devices.stream().mapToLong(LoadedDevice::fill).sum();
        return devices.isEmpty() ? 0 : (int) (sum / devices.size());
    }

    private record Move(RankInstance rank, MemoryBytes need, LoadedDevice from, LoadedDevice to, int devices) {

        int fullerThen() {
            return Math.max(from.fillWithout(need), to.fillWith(need));
        }

        /** Of the fill of all devices: below zero when the rank takes a smaller part of the other device. */
        long sumChange() {
            return (long) from.fillWithout(need) - from.fill() + to.fillWith(need) - to.fill();
        }

        MoveSuggestion suggestion(int mean) {
            int meanThen = (int) (mean + sumChange() / devices);
            String text =
                    ("rank %s from %s to %s: it needs %s; the fuller of the two would go from %s to %s, the mean of all"
                                    + " devices from %s to %s")
                            .formatted(
                                    rank.rank(),
                                    from.place(),
                                    to.place(),
                                    need,
                                    Fill.shown(from.fill()),
                                    Fill.shown(fullerThen()),
                                    Fill.shown(mean),
                                    Fill.shown(meanThen));
            return new MoveSuggestion(
                    rank.rank(),
                    from.device(),
                    to.device(),
                    need,
                    Math.max(from.fill(), to.fill()),
                    fullerThen(),
                    mean,
                    meanThen,
                    text);
        }
    }
}
