package dev.ullage.coordinator.history;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToOperator.HistoryRow;
import dev.ullage.common.protocol.ToOperator.RankHistory;
import dev.ullage.coordinator.view.ClusterView;
import dev.ullage.coordinator.view.DeviceView;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Limit, ceiling and use of each rank and device, once a second over the last minutes, so that whoever begins to look
 * sees where it comes from. Soft, bounded, and in numbers rather than objects: {@value #MAX_ROWS} rows over all devices
 * and at most {@value #MOST} of each, a row being {@code 24 + 8 (3 + 4 ranks)} bytes and its frame. One owner, not
 * thread safe; time is passed in.
 */
public final class UseHistory {
    /** Rows of all devices together. */
    static final int MAX_ROWS = 100_000;

    /** Rows of one device: a quarter of an hour. */
    static final int MOST = 900;

    /** Rows of one device, however many there are: a minute. */
    static final int FEWEST = 60;

    /** How far two rows are apart; a little less than a second, for ticks come late. */
    static final Duration APART = Duration.ofMillis(900);

    private static final long UNKNOWN = -1;
    private static final int USED = 0;
    private static final int PROMISED = 1;
    private static final int BUDGET = 2;
    private static final int OF_DEVICE = 3;
    private static final int OF_RANK = 4;
    private static final Phase[] PHASES = Phase.values();

    private static final class Row {
        private final long atMillis;
        /** The same list as in the row before, as long as they are the same. */
        private final List<RankInstance> ranks;
        /** Used, promised and budget of the device; phase, used, limit and ceiling of each rank. */
        private final long[] amounts;

        Row(long atMillis, List<RankInstance> ranks, long[] amounts) {
            this.atMillis = atMillis;
            this.ranks = ranks;
            this.amounts = amounts;
        }
    }

    private final NavigableMap<DeviceId, Deque<Row>> rows = new TreeMap<>();
    private Optional<Instant> newest = Optional.empty();

    /** Adds a row for each device, once a second at most; forgets devices that are not known any more. */
    public void observe(ClusterView view, Instant now) {
        if (newest.filter(at -> now.isBefore(at.plus(APART))).isPresent()) {
            return;
        }
        newest = Optional.of(now);
        List<DeviceView> devices = view.devices();
        int kept = Math.max(FEWEST, Math.min(MOST, MAX_ROWS / Math.max(1, devices.size())));
        rows.keySet().removeIf(device -> view.device(device).isEmpty());
        for (DeviceView device : devices) {
            Deque<Row> own = rows.computeIfAbsent(device.id(), id -> new ArrayDeque<>());
            own.addLast(row(device, Optional.ofNullable(own.peekLast()), now));
            while (own.size() > kept) {
                own.removeFirst();
            }
        }
    }

    /** The rows of a device, the oldest first; none of one that is not known. */
    public List<HistoryRow> of(DeviceId device) {
        return Optional.ofNullable(rows.get(device)).stream()
                .flatMap(Deque::stream)
                .map(UseHistory::shown)
                .toList();
    }

    int rowCount() {
        return rows.values().stream().mapToInt(Deque::size).sum();
    }

    private static Row row(DeviceView device, Optional<Row> before, Instant now) {
        Optional<LedgerReport> ledger =
                device.report().map(heard -> heard.message().ledger());
        List<GrantReport> grants = ledger.map(LedgerReport::grants).orElse(List.of());
        List<RankInstance> ranks = grants.stream().map(GrantReport::instance).toList();
        long[] amounts = new long[OF_DEVICE + OF_RANK * grants.size()];
        amounts[USED] =
                known(device.sample().flatMap(heard -> heard.message().memory()).map(MemoryUse::used));
        amounts[PROMISED] = known(ledger.map(
                report -> grants.stream().map(GrantReport::ceiling).reduce(MemoryBytes.ZERO, MemoryBytes::plus)));
        amounts[BUDGET] = known(ledger.map(report -> report.inForce().budget()));
        List<Optional<RankSample>> samples = samples(device, ranks);
        for (int i = 0; i < grants.size(); i++) {
            GrantReport grant = grants.get(i);
            Optional<RankSample> sample = samples.get(i);
            Optional<Phase> phase = sample.map(said -> said.activity().phase());
            int at = OF_DEVICE + OF_RANK * i;
            amounts[at] = phase.map(Phase::ordinal).orElse((int) UNKNOWN);
            amounts[at + 1] = known(sample.flatMap(said -> said.use().held()));
            amounts[at + 2] = known(grant.target().flatMap(target -> phase.map(target::in)));
            amounts[at + 3] = grant.ceiling().value();
        }
        List<RankInstance> shared =
                before.map(row -> row.ranks).filter(ranks::equals).orElse(ranks);
        return new Row(now.toEpochMilli(), shared, amounts);
    }

    /** One for each rank. Most often a sample tells of the same ranks in the same order, and nothing is searched. */
    private static List<Optional<RankSample>> samples(DeviceView device, List<RankInstance> ranks) {
        List<RankSample> said =
                device.sample().map(heard -> heard.message().ranks()).orElse(List.of());
        List<Optional<RankSample>> inOrder = new ArrayList<>(ranks.size());
        for (int i = 0; i < ranks.size() && i < said.size(); i++) {
            if (ranks.get(i).equals(said.get(i).instance())) {
                inOrder.add(Optional.of(said.get(i)));
            }
        }
        if (inOrder.size() == ranks.size() && said.size() == ranks.size()) {
            return inOrder;
        }
        NavigableMap<RankInstance, RankSample> samples = new TreeMap<>();
        said.forEach(rank -> samples.put(rank.instance(), rank));
        return ranks.stream()
                .map(rank -> Optional.ofNullable(samples.get(rank)))
                .toList();
    }

    private static long known(Optional<MemoryBytes> amount) {
        return amount.map(MemoryBytes::value).orElse(UNKNOWN);
    }

    private static HistoryRow shown(Row row) {
        List<RankHistory> ranks = new ArrayList<>();
        for (int i = 0; i < row.ranks.size(); i++) {
            int at = OF_DEVICE + OF_RANK * i;
            long phase = row.amounts[at];
            ranks.add(new RankHistory(
                    row.ranks.get(i),
                    phase == UNKNOWN ? Optional.empty() : Optional.of(PHASES[(int) phase]),
                    amount(row, at + 1),
                    amount(row, at + 2),
                    amount(row, at + 3)));
        }
        return new HistoryRow(row.atMillis, amount(row, USED), amount(row, PROMISED), amount(row, BUDGET), ranks);
    }

    private static Optional<MemoryBytes> amount(Row row, int index) {
        long value = row.amounts[index];
        return value == UNKNOWN ? Optional.empty() : Optional.of(MemoryBytes.of(value));
    }
}
