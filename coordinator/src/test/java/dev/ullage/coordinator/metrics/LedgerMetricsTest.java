package dev.ullage.coordinator.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.ledger.Refusal;
import dev.ullage.common.protocol.KeeperCounts;
import dev.ullage.common.protocol.LedgerWork;
import dev.ullage.common.protocol.LedgerWork.RefusalsByRule;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToOperator.DeviceStatus;
import dev.ullage.common.protocol.WriteTimes;
import dev.ullage.coordinator.http.Statuses;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a page shows of the work of a device's ledger. */
class LedgerMetricsTest {
    private static final String FSYNC = "ullage_ledger_fsync_seconds";
    private static final String REFUSALS = "ullage_ledger_refusals_total";
    private static final String DEVICE = "{device=GPU-1, node=host-b}";

    @Test
    void appendsAreAHistogramInSeconds() {
        Page page = Page.of(Statuses.active(Statuses.deviceWithARank()));

        assertThat(page.get(FSYNC + "_bucket{device=GPU-1, le=1.0E-4, node=host-b}"))
                .isEqualTo(5);
        assertThat(page.get(FSYNC + "_bucket{device=GPU-1, le=0.003, node=host-b}"))
                .isEqualTo(7);
        assertThat(page.get(FSYNC + "_bucket{device=GPU-1, le=+Inf, node=host-b}"))
                .isEqualTo(8);
        assertThat(page.get(FSYNC + "_count" + DEVICE)).isEqualTo(8);
        assertThat(page.get(FSYNC + "_sum" + DEVICE)).isEqualTo(0.0125);
    }

    // Goal: increase() sees the first refusal of a rule, which needs a 0 before it.
    @Test
    void everyRuleIsThereWithWhatItRefused() {
        Page page = Page.of(Statuses.active(Statuses.deviceWithARank()));

        assertThat(page.seriesOf(REFUSALS)).hasSize(Refusal.Reason.values().length);
        assertThat(refusals(page, "no_room")).isEqualTo(3);
        assertThat(refusals(page, "stale_coordinator")).isEqualTo(1);
        assertThat(refusals(page, "impossible_confirmation")).isZero();
    }

    @Test
    void anOlderWorkerDoesNotSayAndHasNoSuchSeries() {
        Page page = Page.of(Statuses.active(withWork(Optional.empty())));

        assertThat(page.get("ullage_device_refusals_total" + DEVICE)).isEqualTo(4);
        assertThat(page.names()).doesNotContain(FSYNC, REFUSALS);
    }

    // Goal: no worker, newer or faulty, makes labels without bound.
    @Test
    void aRuleThatIsNotKnownHereIsLeftOut() {
        LedgerWork work = new LedgerWork(
                WriteTimes.NONE, List.of(new RefusalsByRule("FULL_MOON", 2), new RefusalsByRule("NO_ROOM", 1)));

        Page page = Page.of(Statuses.active(withWork(Optional.of(work))));

        assertThat(page.seriesOf(REFUSALS)).hasSize(Refusal.Reason.values().length);
        assertThat(page.text()).doesNotContain("full_moon");
        assertThat(refusals(page, "no_room")).isEqualTo(1);
    }

    @Test
    void whatIsNoHistogramIsLeftOut() {
        WriteTimes falling =
                new WriteTimes(List.of(new WriteTimes.Length(300, 1), new WriteTimes.Length(100, 1)), 0, 400);
        WriteTimes negative = new WriteTimes(List.of(new WriteTimes.Length(300, -1)), 0, 400);

        for (WriteTimes broken : List.of(falling, negative)) {
            Page page = Page.of(Statuses.active(withWork(Optional.of(new LedgerWork(broken, List.of())))));

            assertThat(page.names()).contains(REFUSALS).doesNotContain(FSYNC);
        }
    }

    private static double refusals(Page page, String rule) {
        return page.get(REFUSALS + "{device=GPU-1, node=host-b, rule=" + rule + "}");
    }

    private static DeviceStatus withWork(Optional<LedgerWork> work) {
        DeviceStatus device = Statuses.deviceWithARank();
        LedgerReport ledger = device.ledger().orElseThrow();
        KeeperCounts counts = new KeeperCounts(1, 2, 3, 4, ledger.counts().highestPromised(), 0, work);
        return new DeviceStatus(
                device.info(),
                device.sample(),
                Optional.of(new LedgerReport(
                        ledger.wanted(), ledger.inForce(), ledger.overBudget(), ledger.grants(), counts)),
                device.rollout(),
                Optional.empty());
    }
}
