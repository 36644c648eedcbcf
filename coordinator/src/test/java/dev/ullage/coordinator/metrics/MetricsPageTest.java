package dev.ullage.coordinator.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.KeeperCounts;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToOperator.DeviceStatus;
import dev.ullage.coordinator.http.Statuses;
import dev.ullage.coordinator.journal.DecisionCounts;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class MetricsPageTest {
    private static final double GIB = 1L << 30;
    private static final String DEVICE = "{device=GPU-1, node=host-b}";
    private static final String RANK = "{device=GPU-1, job=bert, node=host-b, rank=3}";

    @Test
    void aDeviceIsShownInBytesSecondsAndRatios() {
        Page page = Page.of(Statuses.active(Statuses.deviceWithARank()));

        assertThat(page.get("ullage_device_memory_total_bytes" + DEVICE)).isEqualTo(80 * GIB);
        assertThat(page.get("ullage_device_memory_reserved_bytes" + DEVICE)).isEqualTo(GIB);
        assertThat(page.get("ullage_device_memory_allocatable_bytes" + DEVICE)).isEqualTo(79 * GIB);
        assertThat(page.get("ullage_device_memory_used_bytes" + DEVICE)).isEqualTo(12 * GIB);
        assertThat(page.get("ullage_device_memory_free_bytes" + DEVICE)).isEqualTo(67 * GIB);
        assertThat(page.get("ullage_device_memory_foreign_bytes" + DEVICE)).isEqualTo(2 * GIB);
        assertThat(page.get("ullage_device_memory_foreign_planned_bytes" + DEVICE))
                .isEqualTo(2 * GIB);
        assertThat(page.get("ullage_device_budget_wanted_bytes" + DEVICE)).isEqualTo(57.25 * GIB);
        assertThat(page.get("ullage_device_reserve_wanted_ratio" + DEVICE)).isEqualTo(0.25);
        assertThat(page.get("ullage_device_reserve_in_force_ratio" + DEVICE)).isEqualTo(0.2);
        assertThat(page.get("ullage_device_ceilings_bytes" + DEVICE)).isEqualTo(40 * GIB);
        assertThat(page.get("ullage_device_over_budget" + DEVICE)).isEqualTo(1);
        assertThat(page.get("ullage_device_sample_age_seconds" + DEVICE)).isEqualTo(0.8);
        assertThat(page.get("ullage_device_orders_repeated_total" + DEVICE)).isEqualTo(2);
        assertThat(page.get("ullage_node_age_seconds{node=host-b}")).isEqualTo(0.12);
        assertThat(page.get("ullage_device_info{device=GPU-1, index=0, kind=discrete, name=H100-80G, node=host-b,"
                        + " pci_bus_id=}"))
                .isEqualTo(1);
    }

    @Test
    void whatAHostHasIsInCoresAndBytesAndWhatIsNotKnownHasNoSeries() {
        Page page = Page.of(Statuses.active(Statuses.deviceWithARank()));
        Page silent = Page.of(Statuses.active(Statuses.silentDevice()));
        String host = "{node=host-b}";

        assertThat(page.get("ullage_node_cpu_cores" + host)).isEqualTo(64);
        assertThat(page.get("ullage_node_cpu_asked_cores" + host)).isZero();
        assertThat(page.get("ullage_node_memory_bytes" + host)).isEqualTo(512 * GIB);
        assertThat(page.get("ullage_node_memory_available_bytes" + host)).isEqualTo(400 * GIB);
        assertThat(page.get("ullage_node_memory_asked_bytes" + host)).isZero();
        assertThat(silent.seriesOf("ullage_node_cpu_cores")).hasSize(1);
        assertThat(silent.seriesOf("ullage_node_cpu_asked_cores")).isEmpty();
        assertThat(silent.seriesOf("ullage_node_memory_asked_bytes")).isEmpty();
    }

    @Test
    void waitsForTurnsAreAHistogram() {
        Page page = Page.of(Statuses.active(Statuses.deviceWithARank()));
        String wait = "ullage_device_turn_wait_seconds";

        assertThat(page.get("ullage_device_turns_total" + DEVICE)).isEqualTo(5);
        assertThat(page.get("ullage_device_turns_missed_total" + DEVICE)).isEqualTo(1);
        assertThat(page.get(wait + "_count" + DEVICE)).isEqualTo(4);
        assertThat(page.get(wait + "_sum" + DEVICE)).isEqualTo(3.5);
        assertThat(page.get(wait + "_bucket{device=GPU-1, le=0.1, node=host-b}"))
                .isEqualTo(1);
        assertThat(page.get(wait + "_bucket{device=GPU-1, le=3.0, node=host-b}"))
                .isEqualTo(3);
        assertThat(page.get(wait + "_bucket{device=GPU-1, le=+Inf, node=host-b}"))
                .isEqualTo(4);
    }

    @Test
    void aRankIsShownWithItsLimitInEachPhase() {
        Page page = Page.of(Statuses.active(Statuses.deviceWithARank()));

        assertThat(page.seriesOf("ullage_rank_limit_bytes")).hasSize(7);
        assertThat(page.get("ullage_rank_limit_bytes{device=GPU-1, job=bert, node=host-b, phase=forward," + " rank=3}"))
                .isEqualTo(24 * GIB);
        assertThat(page.get("ullage_rank_target_bytes" + RANK)).isEqualTo(32 * GIB);
        assertThat(page.get("ullage_rank_ceiling_bytes" + RANK)).isEqualTo(40 * GIB);
        assertThat(page.get("ullage_rank_held_bytes" + RANK)).isEqualTo(10 * GIB);
        assertThat(page.get("ullage_rank_peak_bytes" + RANK)).isEqualTo(12 * GIB);
        assertThat(page.get("ullage_rank_connected" + RANK)).isEqualTo(1);
        assertThat(page.get("ullage_rank_settled" + RANK)).isZero();
        assertThat(page.get("ullage_rank_age_seconds" + RANK)).isEqualTo(0.25);
        assertThat(page.get("ullage_rank_allocator_refusals_total" + RANK)).isEqualTo(4);
        assertThat(page.get("ullage_rank_info{device=GPU-1, enforced_by=torch, job=bert, node=host-b, rank=3}"))
                .isEqualTo(1);
    }

    @Test
    void theCoordinatorIsShownWithItsStateAndItsRolloutsByState() {
        Page page = Page.of(Statuses.active(Statuses.deviceWithARank()));
        Page starting = Page.of(Statuses.empty());

        assertThat(page.get("ullage_coordinator_up")).isEqualTo(1);
        assertThat(page.get("ullage_coordinator_info{node=host-a, state=active}"))
                .isEqualTo(1);
        assertThat(page.get("ullage_coordinator_active")).isEqualTo(1);
        assertThat(page.get("ullage_coordinator_epoch")).isEqualTo(3);
        assertThat(page.seriesOf("ullage_rollouts")).hasSize(7);
        assertThat(page.get("ullage_rollouts{state=shrinking}")).isEqualTo(1);
        assertThat(page.get("ullage_rollouts{state=settled}")).isZero();
        assertThat(page.get("ullage_scrape_seconds")).isEqualTo(0.003);
        assertThat(starting.get("ullage_coordinator_active")).isZero();
        assertThat(starting.names()).doesNotContain("ullage_coordinator_epoch");
    }

    @Test
    void whatIsNotKnownIsAbsentNotZero() {
        Page silent = Page.of(Statuses.active(Statuses.silentDevice()));
        Page ledgerOnly = Page.of(Statuses.active(Statuses.deviceWithASilentRank()));

        assertThat(silent.names())
                .filteredOn(name -> name.startsWith("ullage_device_") || name.startsWith("ullage_rank_"))
                .containsExactly("ullage_device_info");
        assertThat(ledgerOnly.names())
                .contains("ullage_device_budget_wanted_bytes", "ullage_rank_ceiling_bytes")
                .contains("ullage_device_memory_allocatable_bytes", "ullage_device_memory_foreign_planned_bytes")
                .doesNotContain(
                        "ullage_device_memory_total_bytes",
                        "ullage_device_memory_used_bytes",
                        "ullage_device_memory_foreign_bytes",
                        "ullage_device_sample_age_seconds",
                        "ullage_rank_info",
                        "ullage_rank_held_bytes",
                        "ullage_rank_limit_bytes",
                        "ullage_rank_target_bytes",
                        "ullage_rank_connected",
                        "ullage_rank_allocator_refusals_total");
    }

    // Goal: a full disk is seen on every node that has one, also while no coordinator answers.
    @Test
    void decisionRecordsThatWereDroppedAreCounted() {
        MetricsPage metrics = new MetricsPage(false, () -> new DecisionCounts(40, 2));

        assertThat(Page.of(Statuses.active(), metrics).values())
                .containsEntry("ullage_decision_records_written_total", 40.0)
                .containsEntry("ullage_decision_records_dropped_total", 2.0);
        assertThat(Page.parse(new String(metrics.renderNobody(), StandardCharsets.UTF_8))
                        .values())
                .containsEntry("ullage_decision_records_dropped_total", 2.0);
    }

    @Test
    void whenNobodyAnswersOnlyThatIsSaidOfTheCluster() {
        Page page = Page.parse(new String(new MetricsPage(true).renderNobody(), StandardCharsets.UTF_8));

        assertThat(page.names())
                .containsExactly(
                        "ullage_coordinator_up",
                        "ullage_decision_records_dropped_total",
                        "ullage_decision_records_written_total");
        assertThat(page.get("ullage_coordinator_up")).isZero();
        assertThat(page.text()).contains("jvm_memory_used_bytes");
    }

    @ParameterizedTest
    @MethodSource("dev.ullage.coordinator.metrics.OddNames#all")
    void anyJobNameIsOneLabelValueAndComesBackAsItWas(String job) {
        Page page = Page.of(Clusters.withJobs(job));

        assertThat(page.get("ullage_rank_held_bytes{device=GPU-1, job=" + job + ", node=host-b, rank=3}"))
                .isEqualTo(10 * GIB);
        assertThat(page.seriesOf("ullage_rank_held_bytes")).hasSize(1);
    }

    // Goal: one series twice would make the whole page unreadable. Both names have the same form in UTF-8.
    @Test
    void namesThatCannotBeToldApartMakeOneSeries() {
        Page page = Page.of(Clusters.withJobs("a\ud800", "a\udbff"));

        assertThat(page.seriesOf("ullage_rank_held_bytes")).hasSize(1);
    }

    @Test
    void theNewerProcessSpeaksForARankButTheCeilingIsOfBoth() {
        RankInstance old = new RankInstance(Statuses.RANK.rank(), 9000, 1000);
        RankInstance restarted = new RankInstance(Statuses.RANK.rank(), 17, 5000);

        Page page = Page.of(Clusters.withProcesses(old, restarted));

        assertThat(page.get("ullage_rank_age_seconds" + RANK)).isEqualTo(5);
        assertThat(page.get("ullage_rank_ceiling_bytes" + RANK)).isEqualTo(80 * GIB);
    }

    @Test
    void onlyAStateOfTheClusterIsALabelNeverAReading() {
        Page page = Page.of(Statuses.active(Statuses.deviceWithARank()));
        String series = page.values().keySet().stream()
                .filter(name -> name.startsWith("ullage_"))
                .collect(Collectors.joining());

        assertThat(series).isNotEmpty().doesNotContain("4242", "pid", "one problem", "c-1");
        assertThat(Arrays.stream(Metric.values()).flatMap(metric -> metric.labels().stream()))
                .isSubsetOf(
                        "node",
                        "device",
                        "job",
                        "rank",
                        "phase",
                        "state",
                        "kind",
                        "level",
                        "result",
                        "rule",
                        "enforced_by",
                        "index",
                        "name",
                        "pci_bus_id",
                        "gpu",
                        "UUID",
                        "modelName",
                        "hostname");
    }

    @Test
    void aPageHasABoundAndSaysHowMuchItLeavesOut() {
        MetricsPage bounded = new MetricsPage(true, new ClusterMetrics.Bounds(4, 3, 2));

        Page page = Page.of(Clusters.onNodes(10), bounded);
        Page small = Page.of(Clusters.onNodes(2), bounded);

        assertThat(page.seriesOf("ullage_node_age_seconds")).hasSize(4);
        assertThat(page.seriesOf("ullage_device_info")).hasSize(3);
        assertThat(page.seriesOf("DCGM_FI_DEV_FB_TOTAL")).hasSize(3);
        assertThat(page.seriesOf("ullage_rank_held_bytes")).hasSize(2);
        assertThat(page.get("ullage_metrics_left_out{kind=nodes}")).isEqualTo(6);
        assertThat(page.get("ullage_metrics_left_out{kind=devices}")).isEqualTo(7);
        assertThat(page.get("ullage_metrics_left_out{kind=ranks}")).isEqualTo(8);
        assertThat(small.get("ullage_metrics_left_out{kind=ranks}")).isZero();
    }

    @Test
    void aCounterThatMakesNoSenseIsLeftOut() {
        DeviceStatus device = Statuses.deviceWithARank();
        LedgerReport ledger = device.ledger().orElseThrow();
        LedgerReport broken = new LedgerReport(
                ledger.wanted(),
                ledger.inForce(),
                false,
                ledger.grants(),
                new KeeperCounts(-1, 2, 3, 4, ledger.counts().highestPromised(), 0));

        Page page = Page.of(Statuses.active(new DeviceStatus(
                device.info(), device.sample(), Optional.of(broken), device.rollout(), Optional.empty())));

        assertThat(page.names())
                .contains("ullage_device_orders_repeated_total")
                .doesNotContain("ullage_device_orders_sent_total");
    }

    @Test
    void namesOfTheOtherExporterAreThereOnlyWhenAskedFor() {
        Page without = Page.of(Statuses.active(Statuses.deviceWithARank()));
        Page with = Page.of(Statuses.active(Statuses.deviceWithARank()), new MetricsPage(true));

        String labels = "{UUID=GPU-1, gpu=0, hostname=host-b, modelName=H100-80G, pci_bus_id=}";
        assertThat(without.text()).doesNotContain("DCGM");
        assertThat(with.get("DCGM_FI_DEV_FB_TOTAL" + labels)).isEqualTo(81_920);
        assertThat(with.get("DCGM_FI_DEV_FB_FREE" + labels)).isEqualTo(68_608);
        assertThat(with.get("DCGM_FI_DEV_FB_USED" + labels)).isEqualTo(12_288);
        assertThat(with.get("DCGM_FI_DEV_FB_RESERVED" + labels)).isEqualTo(1024);
        assertThat(with.get("DCGM_FI_DEV_FB_USED_PERCENT" + labels)).isEqualTo(12.0 / 79);
    }
}
