package dev.ullage.coordinator.history;

import static dev.ullage.coordinator.Fixtures.DEVICE;
import static dev.ullage.coordinator.Fixtures.NODE;
import static dev.ullage.coordinator.Fixtures.announced;
import static dev.ullage.coordinator.Fixtures.atMillis;
import static dev.ullage.coordinator.Fixtures.gib;
import static dev.ullage.coordinator.Fixtures.ledger;
import static dev.ullage.coordinator.Fixtures.ordered;
import static dev.ullage.coordinator.Fixtures.rank;
import static dev.ullage.coordinator.Fixtures.report;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.protocol.ToOperator.History;
import dev.ullage.common.protocol.ToOperator.HistoryRow;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.coordinator.view.ClusterView;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.pekko.actor.testkit.typed.javadsl.TestInbox;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.Test;

class UseHistoryTest {
    private static final ActorRef<ToWorker> WORKER =
            TestInbox.<ToWorker>create().getRef();

    private final UseHistory history = new UseHistory();

    private static ClusterView view(DeviceId... devices) {
        return ClusterView.EMPTY.with(announced(NODE, Optional.empty(), WORKER, devices), atMillis(0));
    }

    @Test
    void aRowHasWhatIsKnownAndNothingElse() {
        ClusterView view = view(DEVICE);
        history.observe(view, atMillis(0));
        history.observe(view.with(report(1, ledger(ordered(0, gib(20), gib(40)))), atMillis(900)), atMillis(1_000));

        List<HistoryRow> rows = history.of(DEVICE);
        assertThat(rows).hasSize(2);
        assertThat(rows.get(0).used()).isEmpty();
        assertThat(rows.get(0).promised()).isEmpty();
        assertThat(rows.get(0).ranks()).isEmpty();
        assertThat(rows.get(1).atMillis()).isEqualTo(atMillis(1_000).toEpochMilli());
        assertThat(rows.get(1).promised()).contains(gib(40));
        assertThat(rows.get(1).budget()).contains(gib(64));
        assertThat(rows.get(1).ranks()).singleElement().satisfies(known -> {
            assertThat(known.instance()).isEqualTo(rank(0));
            assertThat(known.phase()).isEmpty();
            assertThat(known.used()).isEmpty();
            assertThat(known.limit()).isEmpty();
            assertThat(known.ceiling()).contains(gib(40));
        });
    }

    @Test
    void thereIsARowASecondAndNoneOfADeviceThatIsGone() {
        ClusterView view = view(DEVICE);
        for (int tick = 0; tick < 50; tick++) {
            history.observe(view, atMillis(tick * 100L));
        }
        assertThat(history.of(DEVICE)).hasSize(6);

        history.observe(ClusterView.EMPTY, atMillis(60_000));
        assertThat(history.of(DEVICE)).isEmpty();
        assertThat(history.rowCount()).isZero();
    }

    @Test
    void theRowsAreBoundedForOneDeviceAndForAll() {
        ClusterView one = view(DEVICE);
        DeviceId[] many = IntStream.range(0, 1_000)
                .mapToObj(number -> new DeviceId("GPU-" + number))
                .toArray(DeviceId[]::new);
        ClusterView thousand = view(many);
        for (int second = 0; second < UseHistory.MOST + 50; second++) {
            history.observe(one, atMillis(second * 1_000L));
        }
        assertThat(history.of(DEVICE)).hasSize(UseHistory.MOST);
        assertThat(history.of(DEVICE).get(0).atMillis())
                .isEqualTo(atMillis(50_000).toEpochMilli());

        for (int second = 2_000; second < 2_150; second++) {
            history.observe(thousand, atMillis(second * 1_000L));
        }
        assertThat(history.rowCount()).isEqualTo(UseHistory.MAX_ROWS);
    }

    @Test
    void aPageIsThePartThatWasAskedForAndFitsAMessage() {
        HistoryRow small = new HistoryRow(1, Optional.empty(), Optional.empty(), Optional.empty(), List.of());
        assertThat(History.page(Collections.nCopies(10, small), 8, 5).rows()).hasSize(2);
        assertThat(History.page(Collections.nCopies(10, small), 8, 5).total()).isEqualTo(10);
        assertThat(History.page(List.of(), 8, 5).rows()).isEmpty();
        assertThat(History.page(Collections.nCopies(9_000, small), 0, 9_000).rows())
                .hasSize(4_000);
    }
}
